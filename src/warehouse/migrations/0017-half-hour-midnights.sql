-- Some markets have their midnight at half past or a quarter past an hour. An event whose window ends in the
-- hour of its receipt may have been counted on the day after that midnight, and the mark of this hour alone
-- would not link the two days: a mark links days only if it is longer than an hour.
ALTER TABLE touched_by_ad_event MODIFY QUERY WITH
    fromUnixTimestamp64Milli(served_at_ms + if(kind = 'click', 604800000, 86400000), 'UTC') AS window_end
SELECT
    toDateTime(toStartOfHour(fromUnixTimestamp64Milli(received_at_ms, 'UTC')), 'UTC') AS from_at,
    toDateTime(greatest(from_at, toStartOfHour(least(window_end, ad_event_in.shipped_at))), 'UTC')
        + if(toStartOfHour(window_end) = from_at, 7199, 3599) AS to_at,
    market_id,
    max(ad_event_in.shipped_at) + toIntervalSecond(300) AS touched_until
FROM ad_event_in
WHERE verdict = 'counted'
GROUP BY from_at, to_at, market_id;
