-- A purchase is pending from its receipt on where that lies behind its shipping: the clock of its node was
-- ahead, and touchpoints that other nodes receive until then count for it. So each touchpoint that is
-- visible within the settling time of its own receipt is seen, whatever the clocks of the nodes. Nodes
-- that are off by more than a minute are not ready; a receipt years ahead must not wait for years.
ALTER TABLE pending_purchase_view MODIFY QUERY SELECT
    greatest(
        delivery_in.shipped_at,
        least(
            toDateTime64(fromUnixTimestamp64Milli(received_at_ms, 'UTC'), 6, 'UTC'),
            delivery_in.shipped_at + toIntervalMinute(10)
        )
    ) AS shipped_at,
    toDate(fromUnixTimestamp64Milli(received_at_ms, 'UTC')) AS day,
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key
FROM delivery_in
WHERE verdict = 'valid';
