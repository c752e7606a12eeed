-- When a record that had been set aside was shipped after all. What was set aside stays as it was, so
-- that the whole story can be told; it waits while its newest setting aside is newer than this.
CREATE TABLE set_aside_replay (
    key String,
    replayed_at DateTime64(6, 'UTC')
) ENGINE = ReplacingMergeTree(replayed_at)
ORDER BY key
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
