-- Two publishers may have ads of one id: then each has events of its own. `publisher_id` cannot join the
-- sorting key of a table that is there, a new column can: it holds the same id, or 0 for an ad that was
-- served before `publisher_since`, whose repeats would not meet rows of before under another key.
CREATE TABLE ad_event_key_rule (
    publisher_since DateTime64(3, 'UTC')
) ENGINE = MergeTree
ORDER BY publisher_since
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The first run decides, and the later instant where two ran at once. The hour covers what is shipped while
-- this runs, and ad servers whose clocks are ahead. Without events nothing of before can be met.
INSERT INTO ad_event_key_rule
SELECT if((SELECT count() FROM ad_event) = 0, toDateTime64(0, 3, 'UTC'), now64(3, 'UTC') + toIntervalHour(1))
WHERE (SELECT count() FROM ad_event_key_rule) = 0;

ALTER TABLE ad_event
    ADD COLUMN IF NOT EXISTS key_publisher_id Int32,
    MODIFY ORDER BY (advertiser_id, served_day, kind, verdict, served_ad_id, key_publisher_id);

ALTER TABLE ad_event_view MODIFY QUERY SELECT
    advertiser_id,
    multiIf(
        verdict = 'too-late', toDate(ad_event_in.shipped_at),
        verdict != 'counted' AND received_at_ms - served_at_ms > 2592000000,
            toStartOfMonth(fromUnixTimestamp64Milli(received_at_ms, 'UTC')),
        toDate(fromUnixTimestamp64Milli(served_at_ms, 'UTC'))
    ) AS served_day,
    kind,
    verdict,
    CAST(unhex(served_ad_id), 'FixedString(16)') AS served_ad_id,
    fromUnixTimestamp64Milli(served_at_ms, 'UTC') AS served_at,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    publisher_id,
    site_id,
    market_id,
    campaign_id,
    ad_group_id,
    gtin,
    gtin_key,
    currency,
    charge,
    shipped_at,
    toUInt64(9000000000000000 - received_at_ms) AS earliness,
    if(
        served_at_ms >= (SELECT toUnixTimestamp64Milli(max(publisher_since)) FROM ad_event_key_rule),
        publisher_id,
        0
    ) AS key_publisher_id
FROM ad_event_in;
