-- Whether the rollup of a day has one row for what a row of the report by day is: it has if it was written by one
-- statement. A day with more events than one statement may sum has several, as seals of programs that do not say.
ALTER TABLE sealed_day ADD COLUMN IF NOT EXISTS is_whole UInt8;
