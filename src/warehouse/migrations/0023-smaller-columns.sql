-- Columns that take less room: see docs/decisions/0040. A codec is only written down here; parts that are there
-- are rewritten when they are merged next, and both forms are read meanwhile.
--
-- The receipt of an event and `earliness` say the same, so the receipt is computed. Until the views leave it
-- out, both are written; a row that is inserted between two of these statements has both as well.
ALTER TABLE ad_event MODIFY COLUMN received_at DEFAULT fromUnixTimestamp64Milli(9000000000000000 - toInt64(earliness), 'UTC');

-- Nothing reads when an ad event was shipped: `touched_span` has what follows from it.
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
    publisher_id,
    site_id,
    market_id,
    campaign_id,
    ad_group_id,
    gtin,
    gtin_key,
    currency,
    charge,
    toUInt64(9000000000000000 - received_at_ms) AS earliness,
    if(
        served_at_ms >= (SELECT toUnixTimestamp64Milli(max(publisher_since)) FROM ad_event_key_rule),
        publisher_id,
        0
    ) AS key_publisher_id,
    data_centre_list
FROM ad_event_in;

ALTER TABLE ad_event
    DROP COLUMN IF EXISTS shipped_at,
    MODIFY COLUMN received_at ALIAS fromUnixTimestamp64Milli(9000000000000000 - toInt64(earliness), 'UTC'),
    MODIFY COLUMN served_at CODEC(T64, ZSTD(1)),
    MODIFY COLUMN publisher_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN site_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN campaign_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN ad_group_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN charge CODEC(ZSTD(1)),
    MODIFY COLUMN earliness CODEC(T64, ZSTD(1)),
    MODIFY COLUMN key_publisher_id CODEC(T64, ZSTD(1));

ALTER TABLE touchpoint MODIFY COLUMN received_at DEFAULT fromUnixTimestamp64Milli(9000000000000000 - toInt64(earliness), 'UTC');

ALTER TABLE touchpoint_view MODIFY QUERY SELECT
    publisher_id,
    -- Qualified, because ClickHouse would put the column of that name below in its place.
    CAST(unhex(arrayJoin(arrayFilter(id -> id != '', [user_identity, ad_event_in.login_identity]))), 'FixedString(16)') AS identity,
    kind,
    CAST(unhex(served_ad_id), 'FixedString(16)') AS served_ad_id,
    toDate(fromUnixTimestamp64Milli(served_at_ms, 'UTC')) AS served_day,
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

ALTER TABLE touchpoint
    MODIFY COLUMN received_at ALIAS fromUnixTimestamp64Milli(9000000000000000 - toInt64(earliness), 'UTC'),
    MODIFY COLUMN served_day CODEC(T64, ZSTD(1)),
    MODIFY COLUMN login_identity CODEC(ZSTD(1)),
    MODIFY COLUMN site_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN advertiser_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN campaign_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN ad_group_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN earliness CODEC(T64, ZSTD(1));

ALTER TABLE intake_event MODIFY COLUMN received_at DEFAULT fromUnixTimestamp64Milli(9000000000000000 - toInt64(earliness), 'UTC');

ALTER TABLE intake_event_view MODIFY QUERY SELECT
    publisher_id,
    multiIf(
        verdict = 'too-late', toDate(ad_event_in.shipped_at),
        toDate(fromUnixTimestamp64Milli(if(verdict = 'counted', served_at_ms, received_at_ms), 'UTC'))
    ) AS filed_day,
    kind,
    verdict,
    CAST(unhex(served_ad_id), 'FixedString(16)') AS served_ad_id,
    site_id,
    market_id,
    toUInt64(9000000000000000 - received_at_ms) AS earliness
FROM ad_event_in;

ALTER TABLE intake_event
    MODIFY COLUMN received_at ALIAS fromUnixTimestamp64Milli(9000000000000000 - toInt64(earliness), 'UTC'),
    MODIFY COLUMN site_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN earliness CODEC(T64, ZSTD(1));

-- Counts are small numbers in wide columns.
ALTER TABLE product_day
    MODIFY COLUMN publisher_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN campaign_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN ad_group_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN loads CODEC(T64, ZSTD(1)),
    MODIFY COLUMN impressions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN clicks CODEC(T64, ZSTD(1)),
    MODIFY COLUMN spend_unconverted CODEC(T64, ZSTD(1)),
    MODIFY COLUMN click_conversions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN click_units CODEC(T64, ZSTD(1)),
    MODIFY COLUMN click_unconverted CODEC(T64, ZSTD(1)),
    MODIFY COLUMN click_orders CODEC(T64, ZSTD(1)),
    MODIFY COLUMN view_conversions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN view_units CODEC(T64, ZSTD(1)),
    MODIFY COLUMN view_unconverted CODEC(T64, ZSTD(1)),
    MODIFY COLUMN view_orders CODEC(T64, ZSTD(1)),
    MODIFY COLUMN best_conversions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN best_units CODEC(T64, ZSTD(1)),
    MODIFY COLUMN best_unconverted CODEC(T64, ZSTD(1)),
    MODIFY COLUMN best_orders CODEC(T64, ZSTD(1)),
    MODIFY COLUMN foreign_amounts CODEC(T64, ZSTD(1)),
    MODIFY COLUMN spend CODEC(ZSTD(1)),
    MODIFY COLUMN click_gtin CODEC(ZSTD(1)),
    MODIFY COLUMN click_value CODEC(ZSTD(1)),
    MODIFY COLUMN view_gtin CODEC(ZSTD(1)),
    MODIFY COLUMN view_value CODEC(ZSTD(1)),
    MODIFY COLUMN best_gtin CODEC(ZSTD(1)),
    MODIFY COLUMN best_value CODEC(ZSTD(1));

ALTER TABLE product_span
    MODIFY COLUMN publisher_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN campaign_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN ad_group_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN loads CODEC(T64, ZSTD(1)),
    MODIFY COLUMN impressions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN clicks CODEC(T64, ZSTD(1)),
    MODIFY COLUMN spend_unconverted CODEC(T64, ZSTD(1)),
    MODIFY COLUMN click_conversions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN click_units CODEC(T64, ZSTD(1)),
    MODIFY COLUMN click_unconverted CODEC(T64, ZSTD(1)),
    MODIFY COLUMN click_orders CODEC(T64, ZSTD(1)),
    MODIFY COLUMN view_conversions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN view_units CODEC(T64, ZSTD(1)),
    MODIFY COLUMN view_unconverted CODEC(T64, ZSTD(1)),
    MODIFY COLUMN view_orders CODEC(T64, ZSTD(1)),
    MODIFY COLUMN best_conversions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN best_units CODEC(T64, ZSTD(1)),
    MODIFY COLUMN best_unconverted CODEC(T64, ZSTD(1)),
    MODIFY COLUMN best_orders CODEC(T64, ZSTD(1)),
    MODIFY COLUMN foreign_amounts CODEC(T64, ZSTD(1)),
    MODIFY COLUMN spend CODEC(ZSTD(1)),
    MODIFY COLUMN click_gtin CODEC(ZSTD(1)),
    MODIFY COLUMN click_value CODEC(ZSTD(1)),
    MODIFY COLUMN view_gtin CODEC(ZSTD(1)),
    MODIFY COLUMN view_value CODEC(ZSTD(1)),
    MODIFY COLUMN best_gtin CODEC(ZSTD(1)),
    MODIFY COLUMN best_value CODEC(ZSTD(1));

ALTER TABLE attribution
    MODIFY COLUMN publisher_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN site_id CODEC(T64, ZSTD(1)),
    MODIFY COLUMN received_at CODEC(T64, ZSTD(1)),
    MODIFY COLUMN transaction_id CODEC(ZSTD(1)),
    MODIFY COLUMN line_index CODEC(ZSTD(1)),
    MODIFY COLUMN line_quantity CODEC(ZSTD(1)),
    MODIFY COLUMN line_value CODEC(ZSTD(1)),
    MODIFY COLUMN click_rule CODEC(ZSTD(1)),
    MODIFY COLUMN click_at CODEC(ZSTD(1)),
    MODIFY COLUMN click_market_id CODEC(ZSTD(1)),
    MODIFY COLUMN click_advertiser_id CODEC(ZSTD(1)),
    MODIFY COLUMN click_campaign_id CODEC(ZSTD(1)),
    MODIFY COLUMN click_ad_group_id CODEC(ZSTD(1)),
    MODIFY COLUMN click_gtin CODEC(ZSTD(1)),
    MODIFY COLUMN view_at CODEC(ZSTD(1)),
    MODIFY COLUMN view_market_id CODEC(ZSTD(1)),
    MODIFY COLUMN view_advertiser_id CODEC(ZSTD(1)),
    MODIFY COLUMN view_campaign_id CODEC(ZSTD(1)),
    MODIFY COLUMN view_ad_group_id CODEC(ZSTD(1)),
    MODIFY COLUMN view_gtin CODEC(ZSTD(1));

ALTER TABLE delivery
    MODIFY COLUMN received_at CODEC(T64, ZSTD(1)),
    MODIFY COLUMN transaction_id CODEC(ZSTD(1)),
    MODIFY COLUMN shipped_at CODEC(ZSTD(1)),
    MODIFY COLUMN line_gtin CODEC(ZSTD(1)),
    MODIFY COLUMN line_gtin_key CODEC(ZSTD(1)),
    MODIFY COLUMN line_group_id CODEC(ZSTD(1)),
    MODIFY COLUMN line_brand CODEC(ZSTD(1)),
    MODIFY COLUMN line_price CODEC(ZSTD(1)),
    MODIFY COLUMN line_quantity CODEC(ZSTD(1)),
    MODIFY COLUMN line_value CODEC(ZSTD(1)),
    MODIFY COLUMN line_verdict CODEC(ZSTD(1));

ALTER TABLE purchase_identity
    MODIFY COLUMN received_at CODEC(T64, ZSTD(1));
