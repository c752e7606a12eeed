-- The catalog: small entries of many kinds as JSON bodies, and the products, which are many. The
-- greatest version of an entry counts; a bundle is one insert and so all or nothing.
CREATE TABLE catalog_entry (
    kind LowCardinality(String),
    id String,
    body String,
    version UInt64
) ENGINE = ReplacingMergeTree(version)
ORDER BY (kind, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE product (
    market_id Int32,
    gtin_key String,
    gtin String,
    title String,
    brand String,
    group_id String,
    is_active UInt8,
    version UInt64
) ENGINE = ReplacingMergeTree(version)
ORDER BY (market_id, gtin_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Reference rates: units of the currency for one euro, by the day of publication.
CREATE TABLE rate (
    currency LowCardinality(String),
    day Date,
    units_per_euro Decimal128(9),
    version UInt64
) ENGINE = ReplacingMergeTree(version)
ORDER BY (currency, day)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Who changed what and when, of every administrative call.
CREATE TABLE audit (
    at DateTime64(6, 'UTC'),
    id String,
    key_id String,
    action LowCardinality(String),
    subject String,
    details String
) ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (at, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What must be the same on every node of the installation; the first node to write decides.
CREATE TABLE installation (
    name String,
    value String,
    written_at DateTime64(6, 'UTC')
) ENGINE = MergeTree
ORDER BY (name, written_at, value)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
