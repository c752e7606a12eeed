-- Each record carries the hash of the one before it in the chain of its writer, and its own. Records from before
-- have an empty writer and stay as they are. `heads` names the ends of other chains, so that their tails
-- cannot be removed unseen.
ALTER TABLE audit ADD COLUMN IF NOT EXISTS writer LowCardinality(String);

ALTER TABLE audit ADD COLUMN IF NOT EXISTS sequence UInt64;

ALTER TABLE audit ADD COLUMN IF NOT EXISTS previous_hash String;

ALTER TABLE audit ADD COLUMN IF NOT EXISTS hash String;

ALTER TABLE audit ADD COLUMN IF NOT EXISTS heads Array(String);
