-- The currency of impact values.
ALTER TABLE org ADD COLUMN currency TEXT;  -- ISO 4217; null: a custom unit
