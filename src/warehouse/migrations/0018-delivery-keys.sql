-- What judging a delivery needs is kept with it, so that it can be judged again: how it came, which key it
-- came with, and from which address. Rows of before are of origin `unknown` and keep their verdict. The
-- address is security data and leaves after 90 days; nothing but judging reads it. Nodes that still run the
-- program of before insert rows without these columns, hence the defaults.
ALTER TABLE delivery
    MODIFY COLUMN verdict Enum8('valid' = 0, 'untrusted-source' = 1, 'too-late' = 2, 'unauthenticated' = 3, 'unknown-publisher' = 4),
    ADD COLUMN IF NOT EXISTS origin Enum8('unknown' = 0, 'live' = 1, 'backfill' = 2) AFTER verdict,
    ADD COLUMN IF NOT EXISTS key_kind Enum8('none' = 0, 'malformed' = 1, 'unknown' = 2, 'known' = 3) AFTER origin,
    ADD COLUMN IF NOT EXISTS key_id LowCardinality(String) AFTER key_kind,
    ADD COLUMN IF NOT EXISTS source_address String TTL toDate(received_at) + toIntervalDay(90) AFTER key_id
SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE purchase_return
    MODIFY COLUMN verdict Enum8('valid' = 0, 'untrusted-source' = 1, 'too-late' = 2, 'unauthenticated' = 3, 'unknown-publisher' = 4),
    ADD COLUMN IF NOT EXISTS origin Enum8('unknown' = 0, 'live' = 1, 'backfill' = 2) AFTER verdict,
    ADD COLUMN IF NOT EXISTS key_kind Enum8('none' = 0, 'malformed' = 1, 'unknown' = 2, 'known' = 3) AFTER origin,
    ADD COLUMN IF NOT EXISTS key_id LowCardinality(String) AFTER key_kind,
    ADD COLUMN IF NOT EXISTS source_address String TTL toDate(received_at) + toIntervalDay(90) AFTER key_id
SETTINGS materialize_ttl_after_modify = 0;

ALTER TABLE delivery_in
    ADD COLUMN IF NOT EXISTS origin String DEFAULT 'unknown',
    ADD COLUMN IF NOT EXISTS key_kind String DEFAULT 'none',
    ADD COLUMN IF NOT EXISTS key_id String,
    ADD COLUMN IF NOT EXISTS source_address String;

ALTER TABLE purchase_return_in
    ADD COLUMN IF NOT EXISTS origin String DEFAULT 'unknown',
    ADD COLUMN IF NOT EXISTS key_kind String DEFAULT 'none',
    ADD COLUMN IF NOT EXISTS key_id String,
    ADD COLUMN IF NOT EXISTS source_address String;

ALTER TABLE delivery_view MODIFY QUERY SELECT
    if(verdict = 'too-late', toDate(delivery_in.shipped_at), toDate(fromUnixTimestamp64Milli(received_at_ms, 'UTC'))) AS day,
    publisher_id,
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key,
    CAST(unhex(delivery_id), 'FixedString(16)') AS delivery_id,
    site_id,
    transaction_id,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    verdict,
    origin,
    key_kind,
    key_id,
    source_address,
    CAST(unhex(user_identity), 'FixedString(16)') AS user_identity,
    CAST(unhex(login_identity), 'FixedString(16)') AS login_identity,
    currency,
    CAST(unhex(content_hash), 'FixedString(16)') AS content_hash,
    line_gtin,
    line_gtin_key,
    line_group_id,
    line_brand,
    line_price,
    line_quantity,
    line_value,
    line_verdict,
    shipped_at
FROM delivery_in;

ALTER TABLE purchase_return_view MODIFY QUERY SELECT
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key,
    CAST(unhex(return_key), 'FixedString(16)') AS return_key,
    CAST(unhex(delivery_id), 'FixedString(16)') AS delivery_id,
    publisher_id,
    transaction_id,
    return_id,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    verdict,
    origin,
    key_kind,
    key_id,
    source_address,
    CAST(unhex(content_hash), 'FixedString(16)') AS content_hash,
    line_gtin,
    line_gtin_key,
    line_quantity,
    shipped_at
FROM purchase_return_in;
