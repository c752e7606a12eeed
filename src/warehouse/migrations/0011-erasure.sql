-- Erasures of shoppers, and the list of their identities. A row of a greater stage replaces the one
-- before; the last one has no identities any more. The request names the identities as hex, and what
-- compares them takes the bytes; statements refer to an erasure by its id, so that no identity stands in
-- the text of a mutation.
CREATE TABLE erasure (
    id String,
    publisher_id Int32,
    requested_at DateTime64(6, 'UTC'),
    -- 1 requested, 2 erased and watched, 3 closed.
    stage UInt8,
    changed_at DateTime64(6, 'UTC'),
    -- Of the first pass; the beginning of 1970 before it.
    erased_at DateTime64(6, 'UTC'),
    identities_hex Array(String),
    identities Array(FixedString(16)) MATERIALIZED arrayMap(h -> CAST(unhex(h), 'FixedString(16)'), identities_hex)
) ENGINE = ReplacingMergeTree(stage)
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Purchases whose attribution is frozen; no person stands beside them.
CREATE TABLE frozen_purchase (
    purchase_key FixedString(16)
) ENGINE = ReplacingMergeTree
ORDER BY purchase_key
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

-- A frozen row says what the row says that it was copied from, so it touches no day. Its version lies 150
-- years ahead, and a day touched until then would be sealed again for ever.
ALTER TABLE touched_by_attribution MODIFY QUERY SELECT
    if(toDate(received_at) = day, toDateTime(toStartOfHour(received_at), 'UTC'), toDateTime(day, 'UTC')) AS from_at,
    from_at + if(toDate(received_at) = day, 3599, 86399) AS to_at,
    -1 AS market_id,
    max(read_at) + toIntervalSecond(300) AS touched_until
FROM attribution
WHERE is_frozen = 0
GROUP BY from_at, to_at;
