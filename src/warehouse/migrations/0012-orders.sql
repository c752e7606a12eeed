-- Of how many orders a row holds the first line that is credited to its advertiser, so that distinct
-- orders add up over any rows.
ALTER TABLE product_day
    ADD COLUMN IF NOT EXISTS click_orders UInt64 AFTER click_unconverted,
    ADD COLUMN IF NOT EXISTS view_orders UInt64 AFTER view_unconverted,
    ADD COLUMN IF NOT EXISTS best_orders UInt64 AFTER best_unconverted;

ALTER TABLE product_span
    ADD COLUMN IF NOT EXISTS click_orders UInt64 AFTER click_unconverted,
    ADD COLUMN IF NOT EXISTS view_orders UInt64 AFTER view_unconverted,
    ADD COLUMN IF NOT EXISTS best_orders UInt64 AFTER best_unconverted;

-- Which figures the rows have. 0: all but the orders, written before this migration, or since then by a
-- node that still runs the program of before. Such a day is sealed again unless it is final, and such a
-- span summed again once its days are.
ALTER TABLE sealed_day ADD COLUMN IF NOT EXISTS rollup_version UInt16;

ALTER TABLE sealed_span ADD COLUMN IF NOT EXISTS rollup_version UInt16;
