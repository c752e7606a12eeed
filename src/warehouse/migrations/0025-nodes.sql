-- Which nodes work on this warehouse, by the clock of the warehouse. A hint for dividing work, and what sealing waits
-- for: see docs/decisions/0055. Nothing here is lost for good, so rows are not synced, and go after a month.
CREATE TABLE node_seen (
    node_id String,
    -- Of its machine, for people.
    name String,
    roles Array(LowCardinality(String)),
    seen_at DateTime64(6, 'UTC'),
    -- Everything that the node received before this instant, by its own clock, is in the warehouse.
    shipped_through DateTime64(3, 'UTC'),
    -- What its spool holds.
    waiting_bytes UInt64,
    -- It ended with an empty spool, and takes no events any more.
    has_left UInt8
) ENGINE = ReplacingMergeTree(seen_at)
ORDER BY node_id
TTL toDate(seen_at) + 30;
