-- Events as they came: ad events, touchpoints and deliveries. Inserts go into the two `_in` tables,
-- which keep nothing; the views behind them fill what is read. Every target has a natural key, so
-- a batch that is inserted twice shows once.
--
-- `earliness` falls as the receipt grows: ReplacingMergeTree keeps the greatest version, and the
-- earliest event is the one that counts.

CREATE TABLE ad_event_in (
    served_ad_id String,
    served_at_ms Int64,
    received_at_ms Int64,
    kind String,
    verdict String,
    publisher_id Int32,
    site_id Int32,
    market_id Int32,
    advertiser_id Int32,
    campaign_id Int32,
    ad_group_id Int32,
    gtin String,
    gtin_key String,
    group_id String,
    user_identity String,
    login_identity String,
    currency String,
    charge Decimal128(9),
    shipped_at DateTime64(6, 'UTC')
) ENGINE = Null;

-- No identity stands in here: totals survive the erasure of a shopper. What does not count stays
-- visible under its verdict.
CREATE TABLE ad_event (
    advertiser_id Int32,
    served_day Date,
    kind Enum8('load' = 1, 'impression' = 2, 'click' = 3),
    verdict Enum8('counted' = 0, 'early' = 1, 'expired' = 2, 'bot' = 3, 'prefetch' = 4, 'too-late' = 5),
    served_ad_id FixedString(16),
    served_at DateTime64(3, 'UTC'),
    received_at DateTime64(3, 'UTC'),
    publisher_id Int32,
    site_id Int32,
    market_id Int32,
    campaign_id Int32,
    ad_group_id Int32,
    gtin String,
    gtin_key String,
    currency LowCardinality(String),
    charge Decimal128(9),
    shipped_at DateTime64(6, 'UTC'),
    earliness UInt64
) ENGINE = ReplacingMergeTree(earliness)
PARTITION BY toYYYYMM(served_day)
ORDER BY (advertiser_id, served_day, kind, verdict, served_ad_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW ad_event_view TO ad_event AS
SELECT
    advertiser_id,
    toDate(fromUnixTimestamp64Milli(served_at_ms, 'UTC')) AS served_day,
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
    toUInt64(9000000000000000 - received_at_ms) AS earliness
FROM ad_event_in;

-- One row per identity of the shopper, counted impressions and clicks only. Dropped by whole weeks
-- of `served_day` after the retention: a TTL on the receipt would drop the winner before its
-- repeats and bring a repeat alive.
CREATE TABLE touchpoint (
    publisher_id Int32,
    identity FixedString(16),
    kind Enum8('impression' = 2, 'click' = 3),
    served_ad_id FixedString(16),
    served_day Date,
    received_at DateTime64(3, 'UTC'),
    login_identity FixedString(16),
    site_id Int32,
    market_id Int32,
    advertiser_id Int32,
    campaign_id Int32,
    ad_group_id Int32,
    gtin String,
    gtin_key String,
    group_id String,
    earliness UInt64
) ENGINE = ReplacingMergeTree(earliness)
PARTITION BY toMonday(served_day)
ORDER BY (publisher_id, identity, kind, served_ad_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW touchpoint_view TO touchpoint AS
SELECT
    publisher_id,
    -- Qualified, because the engine would put the column of that name below in its place.
    CAST(unhex(arrayJoin(arrayFilter(id -> id != '', [user_identity, ad_event_in.login_identity]))), 'FixedString(16)') AS identity,
    kind,
    CAST(unhex(served_ad_id), 'FixedString(16)') AS served_ad_id,
    toDate(fromUnixTimestamp64Milli(served_at_ms, 'UTC')) AS served_day,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    CAST(unhex(ad_event_in.login_identity), 'FixedString(16)') AS login_identity,
    site_id,
    market_id,
    advertiser_id,
    campaign_id,
    ad_group_id,
    gtin,
    gtin_key,
    group_id,
    toUInt64(9000000000000000 - received_at_ms) AS earliness
FROM ad_event_in
WHERE verdict = 'counted' AND kind != 'load';

CREATE TABLE delivery_in (
    delivery_id String,
    purchase_key String,
    publisher_id Int32,
    site_id Int32,
    transaction_id String,
    received_at_ms Int64,
    verdict String,
    user_identity String,
    login_identity String,
    currency String,
    content_hash String,
    line_gtin Array(String),
    line_gtin_key Array(String),
    line_group_id Array(String),
    line_brand Array(String),
    line_price Array(Float64),
    line_quantity Array(Int32),
    line_value Array(Decimal128(9)),
    line_verdict Array(String),
    shipped_at DateTime64(6, 'UTC')
) ENGINE = Null;

-- Every delivery is kept, repeats of a transaction too; the lines stand as arrays in one row, so
-- that a delivery wins or loses as a whole. The engine replaces only a delivery shipped twice.
CREATE TABLE delivery (
    day Date,
    publisher_id Int32,
    purchase_key FixedString(16),
    delivery_id FixedString(16),
    site_id Int32,
    transaction_id String,
    received_at DateTime64(3, 'UTC'),
    verdict Enum8('valid' = 0, 'untrusted-source' = 1, 'too-late' = 2),
    user_identity FixedString(16),
    login_identity FixedString(16),
    currency LowCardinality(String),
    content_hash FixedString(16),
    line_gtin Array(String),
    line_gtin_key Array(String),
    line_group_id Array(String),
    line_brand Array(String),
    line_price Array(Float64),
    line_quantity Array(Int32),
    line_value Array(Decimal128(9)),
    line_verdict Array(Enum8('valid' = 0, 'out-of-range' = 1, 'no-product' = 2)),
    shipped_at DateTime64(6, 'UTC'),
    INDEX delivery_purchase_key purchase_key TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (day, publisher_id, purchase_key, delivery_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW delivery_view TO delivery AS
SELECT
    toDate(fromUnixTimestamp64Milli(received_at_ms, 'UTC')) AS day,
    publisher_id,
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key,
    CAST(unhex(delivery_id), 'FixedString(16)') AS delivery_id,
    site_id,
    transaction_id,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    verdict,
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

-- Names the winning delivery: least receipt, then least delivery id. `days` are the UTC days of all
-- valid deliveries, since an earlier delivery that arrives later moves the purchase to another day.
CREATE TABLE purchase (
    purchase_key FixedString(16),
    first SimpleAggregateFunction(min, Tuple(DateTime64(3, 'UTC'), FixedString(16))),
    days SimpleAggregateFunction(groupUniqArrayArray, Array(Date)),
    publisher_id SimpleAggregateFunction(any, Int32)
) ENGINE = AggregatingMergeTree
ORDER BY purchase_key
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW purchase_view TO purchase AS
SELECT
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key,
    (fromUnixTimestamp64Milli(received_at_ms, 'UTC'), CAST(unhex(delivery_id), 'FixedString(16)')) AS first,
    [toDate(fromUnixTimestamp64Milli(received_at_ms, 'UTC'))] AS days,
    publisher_id
FROM delivery_in
WHERE verdict = 'valid';

-- From a shopper's identity to the purchases made under it: what a late touchpoint touches.
CREATE TABLE purchase_identity (
    publisher_id Int32,
    identity FixedString(16),
    received_at DateTime64(3, 'UTC'),
    purchase_key FixedString(16)
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (publisher_id, identity, received_at, purchase_key)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW purchase_identity_view TO purchase_identity AS
SELECT
    publisher_id,
    CAST(unhex(arrayJoin(arrayFilter(id -> id != '', [user_identity, login_identity]))), 'FixedString(16)') AS identity,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key
FROM delivery_in
WHERE verdict = 'valid';

-- Purchases to be attributed by a reading that begins after `shipped_at` and the settling time.
-- A row is answered by any later attribution of its (day, purchase_key); answered days are dropped.
CREATE TABLE pending_purchase (
    shipped_at DateTime64(6, 'UTC'),
    day Date,
    purchase_key FixedString(16)
) ENGINE = MergeTree
PARTITION BY toDate(shipped_at)
ORDER BY shipped_at
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW pending_purchase_view TO pending_purchase AS
SELECT
    shipped_at,
    toDate(fromUnixTimestamp64Milli(received_at_ms, 'UTC')) AS day,
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key
FROM delivery_in
WHERE verdict = 'valid';

-- Touchpoints that became visible when purchases behind them may have been attributed already.
CREATE TABLE late_touchpoint (
    shipped_at DateTime64(6, 'UTC'),
    publisher_id Int32,
    identity FixedString(16),
    received_at DateTime64(3, 'UTC')
) ENGINE = MergeTree
PARTITION BY toDate(shipped_at)
ORDER BY (shipped_at, publisher_id, identity)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE late_touchpoint_in (
    shipped_at DateTime64(6, 'UTC'),
    publisher_id Int32,
    identity String,
    received_at_ms Int64
) ENGINE = Null;

CREATE MATERIALIZED VIEW late_touchpoint_view TO late_touchpoint AS
SELECT
    shipped_at,
    publisher_id,
    CAST(unhex(identity), 'FixedString(16)') AS identity,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at
FROM late_touchpoint_in;

-- Deliveries an operator declared void: they never win, the next delivery does.
CREATE TABLE delivery_void (
    purchase_key FixedString(16),
    delivery_id FixedString(16),
    voided_at DateTime64(6, 'UTC')
) ENGINE = ReplacingMergeTree(voided_at)
ORDER BY (purchase_key, delivery_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- One row per purchase, replaced whole: the credited lines as arrays, each with its best click and
-- its best view (an all-zero served_ad_id: none), from which every profile follows. A purchase
-- without credit has a row as well. The version is the instant its reading began, never the time
-- of writing, so that an older reading written later loses.
CREATE TABLE attribution (
    day Date,
    purchase_key FixedString(16),
    read_at DateTime64(6, 'UTC'),
    is_frozen UInt8,
    publisher_id Int32,
    site_id Int32,
    transaction_id String,
    delivery_id FixedString(16),
    received_at DateTime64(3, 'UTC'),
    currency LowCardinality(String),
    line_index Array(UInt32),
    line_quantity Array(Int32),
    line_value Array(Decimal128(9)),
    click_rule Array(Enum8('none' = 0, 'direct' = 1, 'in-group' = 2)),
    click_at Array(DateTime64(3, 'UTC')),
    click_served_ad_id Array(FixedString(16)),
    click_market_id Array(Int32),
    click_advertiser_id Array(Int32),
    click_campaign_id Array(Int32),
    click_ad_group_id Array(Int32),
    click_gtin Array(String),
    view_at Array(DateTime64(3, 'UTC')),
    view_served_ad_id Array(FixedString(16)),
    view_market_id Array(Int32),
    view_advertiser_id Array(Int32),
    view_campaign_id Array(Int32),
    view_ad_group_id Array(Int32),
    view_gtin Array(String)
) ENGINE = ReplacingMergeTree(read_at)
PARTITION BY toYYYYMM(day)
ORDER BY (day, purchase_key)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- What the warehouse refused, whole and with the reason, so that it never blocks the rest.
CREATE TABLE set_aside (
    key String,
    set_aside_at DateTime64(6, 'UTC'),
    reason String,
    record String
) ENGINE = ReplacingMergeTree(set_aside_at)
ORDER BY key
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
