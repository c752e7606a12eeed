-- Which foreign currencies the amounts of a row were in: only their rates can change its figures.
ALTER TABLE product_day ADD COLUMN IF NOT EXISTS foreign_currencies Array(String);

-- Of a seal of the unknown markets: the ids that have rows in it, as a JSON list. It is void once the
-- catalog knows one of them, and only then. '' is the seal of a program that does not say; `definition`
-- decides there.
ALTER TABLE sealed_day ADD COLUMN IF NOT EXISTS unknown_ids String;

-- From when on the one before is not read any more, as `sealed_day` says of days.
ALTER TABLE sealed_span ADD COLUMN IF NOT EXISTS sealed_at DateTime64(6, 'UTC') DEFAULT read_at;

-- Every reading that writes rows under a new revision says so before it does: so that the rows of one that
-- ended halfway are found without a look through all there are.
CREATE TABLE rollup_begun (
    revision UInt64,
    first_day Date,
    last_day Date,
    begun_at DateTime64(6, 'UTC')
) ENGINE = MergeTree
PARTITION BY toDate(begun_at)
ORDER BY begun_at
TTL toDate(begun_at) + 30
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

-- What ended halfway before this table was there.
INSERT INTO rollup_begun
SELECT revision, min(product_day.day), max(product_day.day), max(read_at) FROM product_day
WHERE revision NOT IN (SELECT revision FROM sealed_day)
GROUP BY revision;

INSERT INTO rollup_begun
SELECT revision, min(first_day), max(first_day), max(read_at) FROM product_span
WHERE revision NOT IN (SELECT revision FROM sealed_span)
GROUP BY revision;
