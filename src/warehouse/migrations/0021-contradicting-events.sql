-- Of what is set aside: whose it is, and by which rule of the catalog, if it was one. Programs of before insert
-- without both.
ALTER TABLE set_aside
    ADD COLUMN IF NOT EXISTS publisher_id Int32,
    ADD COLUMN IF NOT EXISTS rule LowCardinality(String);
