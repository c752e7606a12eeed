-- Days that are final: everything before `day` keeps the figures it was sealed with, and its events are
-- dropped by whole partitions. A day is announced first, so that every node ships by it, and final once
-- all that was shipped before stands in the seals. The greatest day of a state counts; rows are never
-- changed, so several engines may write the same.
CREATE TABLE final_before (
    day Date,
    state Enum8('announced' = 1, 'final' = 2),
    written_at DateTime64(6, 'UTC')
) ENGINE = MergeTree
ORDER BY (state, day)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What does not count must outlive its announcement: it is filed where partitions are young. An event
-- that came too late stands under the day of its shipping, one of a link that is more than 30 days old
-- under the first day of the month of its receipt, where its repeats of that month meet it. For both
-- `served_day` is the day of filing; `served_at` tells when the ad was served.
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
    toUInt64(9000000000000000 - received_at_ms) AS earliness
FROM ad_event_in;

ALTER TABLE intake_event_view MODIFY QUERY SELECT
    publisher_id,
    multiIf(
        verdict = 'too-late', toDate(ad_event_in.shipped_at),
        toDate(fromUnixTimestamp64Milli(if(verdict = 'counted', served_at_ms, received_at_ms), 'UTC'))
    ) AS filed_day,
    kind,
    verdict,
    CAST(unhex(served_ad_id), 'FixedString(16)') AS served_ad_id,
    fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS received_at,
    site_id,
    market_id,
    toUInt64(9000000000000000 - received_at_ms) AS earliness
FROM ad_event_in;

-- `day` of a delivery that came too late is that of its shipping.
ALTER TABLE delivery_view MODIFY QUERY SELECT
    if(verdict = 'too-late', toDate(delivery_in.shipped_at), toDate(fromUnixTimestamp64Milli(received_at_ms, 'UTC'))) AS day,
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
