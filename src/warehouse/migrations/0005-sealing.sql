-- Rollups of days that are over. Nothing is replaced in place: a day is sealed again under another
-- revision, and `sealed_day` says which one counts.
--
-- `unit` is the market, or 0 for all markets that the catalog does not know (their days are UTC's).

CREATE TABLE product_day (
    advertiser_id Int32,
    unit Int32,
    day Date,
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
    -- The smallest spelling of the GTIN in events and credit of the profile; '' where there are none.
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
    -- Amounts in another currency than the market's, converted or not.
    foreign_amounts UInt64,
    read_at DateTime64(6, 'UTC')
) ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (advertiser_id, day, unit, revision, gtin_key, publisher_id, campaign_id, ad_group_id, market_id)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1;

-- Of the rows of a day the one whose reading began last counts; equal instants: the greater revision.
CREATE TABLE sealed_day (
    day Date,
    unit Int32,
    -- The instants of the day in the market's zone.
    from_at DateTime64(3, 'UTC'),
    to_at DateTime64(3, 'UTC'),
    revision UInt64,
    read_at DateTime64(6, 'UTC'),
    sealed_at DateTime64(6, 'UTC'),
    -- Zone and currency of the market, or the markets known at the time: a seal of another one is void.
    definition String,
    -- Where amounts were in other currencies, the rates of the day in billionths: {"USD": "1083400000"};
    -- else ''.
    rates String
) ENGINE = MergeTree
ORDER BY (day, unit, read_at)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- Which spans of time were touched, until when a reading may have missed it. A seal whose reading
-- began earlier than `touched_until` is to be renewed. Market -1 stands for every market.
CREATE TABLE touched_span (
    from_at DateTime('UTC'),
    to_at DateTime('UTC'),
    market_id Int32,
    touched_until SimpleAggregateFunction(max, DateTime64(6, 'UTC'))
) ENGINE = AggregatingMergeTree
ORDER BY (from_at, to_at, market_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- An event that is the earlier receipt of another one takes its place, on any day until its window
-- ends: so the span ends with the window, or now. A batch is visible within 5 minutes of `shipped_at`.
CREATE MATERIALIZED VIEW touched_by_ad_event TO touched_span AS
SELECT
    toDateTime(toStartOfHour(fromUnixTimestamp64Milli(received_at_ms, 'UTC')), 'UTC') AS from_at,
    toDateTime(greatest(from_at, toStartOfHour(least(
        fromUnixTimestamp64Milli(served_at_ms + if(kind = 'click', 604800000, 86400000), 'UTC'),
        ad_event_in.shipped_at
    ))), 'UTC') + 3599 AS to_at,
    market_id,
    max(ad_event_in.shipped_at) + toIntervalSecond(300) AS touched_until
FROM ad_event_in
WHERE verdict = 'counted'
GROUP BY from_at, to_at, market_id;

-- A purchase attributed again may take from any market and give to any. A row under another day than
-- that of its receipt empties a day that the purchase has left, at an instant that is not known any more.
CREATE MATERIALIZED VIEW touched_by_attribution TO touched_span AS
SELECT
    if(toDate(received_at) = day, toDateTime(toStartOfHour(received_at), 'UTC'), toDateTime(day, 'UTC')) AS from_at,
    from_at + if(toDate(received_at) = day, 3599, 86399) AS to_at,
    -1 AS market_id,
    max(read_at) + toIntervalSecond(300) AS touched_until
FROM attribution
GROUP BY from_at, to_at;

-- What came before this table was there.
INSERT INTO touched_span
SELECT
    toDateTime(toStartOfHour(received_at), 'UTC') AS from_at,
    toDateTime(toStartOfHour(received_at), 'UTC') + 3599 AS to_at,
    market_id,
    max(shipped_at) AS touched_until
FROM ad_event
WHERE verdict = 'counted'
GROUP BY from_at, to_at, market_id;

INSERT INTO touched_span
SELECT toDateTime(day, 'UTC') AS from_at, toDateTime(day, 'UTC') + 86399 AS to_at, -1 AS market_id, max(read_at) AS touched_until
FROM attribution
GROUP BY day;
