-- Runs once on each replica, at its first start.
CREATE DATABASE IF NOT EXISTS shelftrace
ENGINE = Replicated('/clickhouse/databases/shelftrace', '{shard}', '{replica}');
