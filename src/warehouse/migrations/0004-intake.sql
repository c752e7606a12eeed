-- What publishers sent, by publisher and day, so that an overview of a few days reads the rows of one
-- publisher in those days and no history.
--
-- A row is filed under a day by which its repeats meet: a counted event under the UTC day on which its
-- ad was served, since every counted receipt lies within 5 minutes before and 7 days after it; any
-- other event, whose receipt may lie years from its serving, under the UTC day of the receipt.
-- `earliness` keeps the earliest receipt, as in `ad_event`.
CREATE TABLE intake_event (
    publisher_id Int32,
    filed_day Date,
    kind Enum8('load' = 1, 'impression' = 2, 'click' = 3),
    verdict Enum8('counted' = 0, 'early' = 1, 'expired' = 2, 'bot' = 3, 'prefetch' = 4, 'too-late' = 5),
    served_ad_id FixedString(16),
    received_at DateTime64(3, 'UTC'),
    site_id Int32,
    market_id Int32,
    earliness UInt64
) ENGINE = ReplacingMergeTree(earliness)
PARTITION BY toYYYYMM(filed_day)
ORDER BY (publisher_id, filed_day, kind, verdict, served_ad_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW intake_event_view TO intake_event AS
SELECT
    publisher_id,
    toDate(fromUnixTimestamp64Milli(if(verdict = 'counted', served_at_ms, received_at_ms), 'UTC')) AS filed_day,
    kind,
    verdict,
    CAST(unhex(served_ad_id), 'FixedString(16)') AS served_ad_id,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    site_id,
    market_id,
    toUInt64(9000000000000000 - received_at_ms) AS earliness
FROM ad_event_in;

-- Events from before this table; running it again changes nothing.
INSERT INTO intake_event
SELECT publisher_id, if(verdict = 'counted', served_day, toDate(received_at)), kind, verdict,
    served_ad_id, received_at, site_id, market_id, earliness
FROM ad_event;

-- Conversions that were set aside, by publisher and UTC day of receipt. A set-aside ad event names its
-- publisher only inside its token. Nothing a record holds may make its insert fail, which would hold
-- up shipping: hence the bounds.
CREATE TABLE intake_set_aside (
    publisher_id Int32,
    day Date,
    key String
) ENGINE = ReplacingMergeTree
ORDER BY (publisher_id, day, key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW intake_set_aside_view TO intake_set_aside AS
SELECT
    toInt32(least(greatest(JSONExtractInt(record, 'publisherId'), -2147483648), 2147483647)) AS publisher_id,
    toDate(intDiv(least(greatest(JSONExtractInt(record, 'receivedAtMs'), 0), 4102444800000), 86400000)) AS day,
    key
FROM set_aside
WHERE JSONExtractString(record, 'type') = 'conversion';

-- The name of the key beside its id, since a list of ids tells an operator nothing.
ALTER TABLE audit ADD COLUMN IF NOT EXISTS key_name String AFTER key_id;
