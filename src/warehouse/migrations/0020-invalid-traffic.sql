-- Two more reasons why an ad event does not count. A sorting key may hold an Enum that gets more values.
ALTER TABLE ad_event
    MODIFY COLUMN verdict Enum8('counted' = 0, 'early' = 1, 'expired' = 2, 'bot' = 3, 'prefetch' = 4, 'too-late' = 5, 'no-user-agent' = 6, 'data-centre' = 7);

ALTER TABLE intake_event
    MODIFY COLUMN verdict Enum8('counted' = 0, 'early' = 1, 'expired' = 2, 'bot' = 3, 'prefetch' = 4, 'too-late' = 5, 'no-user-agent' = 6, 'data-centre' = 7);

-- The version of the list of data centres that has the caller's network: the list may be gone when somebody
-- asks why an event does not count, and the address was never kept.
ALTER TABLE ad_event
    ADD COLUMN IF NOT EXISTS data_centre_list LowCardinality(String);

-- Programs of before insert without it, and then it is empty.
ALTER TABLE ad_event_in
    ADD COLUMN IF NOT EXISTS data_centre_list String;

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
    toUInt64(9000000000000000 - received_at_ms) AS earliness,
    if(
        served_at_ms >= (SELECT toUnixTimestamp64Milli(max(publisher_since)) FROM ad_event_key_rule),
        publisher_id,
        0
    ) AS key_publisher_id,
    data_centre_list
FROM ad_event_in;
