-- Judgements of deliveries, of purchases and of returns: their verdict where it is not the stored one any
-- more. The latest instant stays; of equal instants the greater id of the judgement. A void is the judgement
-- of a single delivery by an operator.
CREATE TABLE delivery_judgement (
    purchase_key FixedString(16),
    delivery_id FixedString(16),
    latest SimpleAggregateFunction(max, Tuple(DateTime64(6, 'UTC'), String, String))
) ENGINE = AggregatingMergeTree
ORDER BY (purchase_key, delivery_id)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE delivery_judgement_in (
    purchase_key String,
    delivery_id String,
    judged_at DateTime64(6, 'UTC'),
    judgement_id String,
    verdict String
) ENGINE = Null;

CREATE MATERIALIZED VIEW delivery_judgement_view TO delivery_judgement AS
SELECT
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key,
    CAST(unhex(delivery_id), 'FixedString(16)') AS delivery_id,
    (judged_at, judgement_id, verdict) AS latest
FROM delivery_judgement_in;

-- Nodes of the version before attribute by `delivery_void` alone, and write their voids there. So whatever
-- does not count any more stands there too, and what they write is copied back, with an empty id: a judgement
-- of the same instant wins over its own copy.
CREATE MATERIALIZED VIEW delivery_void_by_judgement TO delivery_void AS
SELECT
    CAST(unhex(purchase_key), 'FixedString(16)') AS purchase_key,
    CAST(unhex(delivery_id), 'FixedString(16)') AS delivery_id,
    judged_at AS voided_at
FROM delivery_judgement_in
WHERE verdict != 'valid';

CREATE MATERIALIZED VIEW delivery_judgement_by_void TO delivery_judgement AS
SELECT purchase_key, delivery_id, (voided_at, '', 'void') AS latest
FROM delivery_void;

-- Voids of before. The view above is there already, so none is written between the two.
INSERT INTO delivery_judgement
SELECT purchase_key, delivery_id, (max(voided_at), '', 'void')
FROM delivery_void
GROUP BY purchase_key, delivery_id;

-- Requests to judge again what a publisher delivered, with the policy and the keys of that moment: whoever
-- works on one decides alike. A row of a greater stage replaces the one before: 1 requested, 2 done.
CREATE TABLE judgement (
    id String,
    publisher_id Int32,
    from_at DateTime64(3, 'UTC'),
    to_at DateTime64(3, 'UTC'),
    requested_at DateTime64(6, 'UTC'),
    reason String,
    is_dry_run UInt8,
    assume String,
    policy String,
    key_id String,
    key_name String,
    stage UInt8,
    changed_at DateTime64(6, 'UTC')
) ENGINE = ReplacingMergeTree(stage)
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What a scan of a judgement has looked at: a UTC day of deliveries, or all returns. A part that was begun and
-- not done may have judgements whose purchases are not pending yet, so they are applied once more.
CREATE TABLE judgement_part (
    judgement_id String,
    scan UInt32,
    part String,
    is_done UInt8,
    began_at DateTime64(6, 'UTC'),
    tally String
) ENGINE = ReplacingMergeTree(is_done)
ORDER BY (judgement_id, scan, part)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
