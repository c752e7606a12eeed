-- What shoppers sent back. Every delivery of a return is kept, repeats of its id too; of each return
-- the earliest valid delivery counts (least receipt, then least delivery id).

CREATE TABLE purchase_return_in (
    purchase_key String,
    return_key String,
    delivery_id String,
    publisher_id Int32,
    transaction_id String,
    return_id String,
    received_at_ms Int64,
    verdict String,
    content_hash String,
    line_gtin Array(String),
    line_gtin_key Array(String),
    line_quantity Array(Int32),
    shipped_at DateTime64(6, 'UTC')
) ENGINE = Null;

-- Sorted by purchase, since attribution asks for the returns of a few purchases among all. The engine
-- replaces only a delivery shipped twice. No partitions: a purchase is asked for in all of them.
CREATE TABLE purchase_return (
    purchase_key FixedString(16),
    return_key FixedString(16),
    delivery_id FixedString(16),
    publisher_id Int32,
    transaction_id String,
    return_id String,
    received_at DateTime64(3, 'UTC'),
    verdict Enum8('valid' = 0, 'untrusted-source' = 1, 'too-late' = 2),
    content_hash FixedString(16),
    line_gtin Array(String),
    line_gtin_key Array(String),
    line_quantity Array(Int32),
    shipped_at DateTime64(6, 'UTC')
) ENGINE = ReplacingMergeTree
ORDER BY (purchase_key, return_key, delivery_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW purchase_return_view TO purchase_return AS
SELECT
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key,
    CAST(unhex(return_key), 'FixedString(16)') AS return_key,
    CAST(unhex(delivery_id), 'FixedString(16)') AS delivery_id,
    publisher_id,
    transaction_id,
    return_id,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    verdict,
    CAST(unhex(content_hash), 'FixedString(16)') AS content_hash,
    line_gtin,
    line_gtin_key,
    line_quantity,
    shipped_at
FROM purchase_return_in;

-- The purchases of a batch of returns, by which shipping makes them pending again: no list of keys
-- travels. Read within moments; three days are for whoever wants to know what happened.
CREATE TABLE returned_purchase (
    shipped_at DateTime64(6, 'UTC'),
    purchase_key FixedString(16)
) ENGINE = MergeTree
PARTITION BY toDate(shipped_at)
ORDER BY shipped_at
TTL toDate(shipped_at) + 3
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW returned_purchase_view TO returned_purchase AS
SELECT shipped_at, CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key
FROM purchase_return_in
WHERE verdict = 'valid';
