-- Rollups of whole weeks and calendar months, summed from those of their days, so that a report of a
-- month or a year without its days reads a few rows a product and not one for each day.
--
-- A span counts only while its days stand under the revisions it was summed from: whatever renews a day
-- voids the spans around it, and reports read the days until the span is summed again.

CREATE TABLE product_span (
    advertiser_id Int32,
    unit Int32,
    first_day Date,
    day_count UInt16,
    revision UInt64,
    market_id Int32,
    publisher_id Int32,
    campaign_id Int32,
    ad_group_id Int32,
    gtin_key String,
    loads UInt64,
    impressions UInt64,
    clicks UInt64,
    spend Decimal128(9),
    spend_unconverted UInt64,
    click_gtin String,
    click_conversions UInt64,
    click_units Int64,
    click_value Decimal128(9),
    click_unconverted UInt64,
    view_gtin String,
    view_conversions UInt64,
    view_units Int64,
    view_value Decimal128(9),
    view_unconverted UInt64,
    best_gtin String,
    best_conversions UInt64,
    best_units Int64,
    best_value Decimal128(9),
    best_unconverted UInt64,
    foreign_amounts UInt64,
    read_at DateTime64(6, 'UTC')
) ENGINE = MergeTree
PARTITION BY toYYYYMM(first_day)
ORDER BY (advertiser_id, first_day, day_count, unit, revision, gtin_key, publisher_id, campaign_id, ad_group_id, market_id)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1;

-- Of the rows of a span the one whose reading began last counts; equal instants: the greater revision.
CREATE TABLE sealed_span (
    first_day Date,
    day_count UInt16,
    unit Int32,
    revision UInt64,
    read_at DateTime64(6, 'UTC'),
    -- Of its days, in order.
    day_revisions Array(UInt64)
) ENGINE = MergeTree
ORDER BY (first_day, day_count, unit, read_at)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;
