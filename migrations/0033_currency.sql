-- What impact values are amounts in.
ALTER TABLE org ADD COLUMN currency TEXT;  -- ISO 4217; null: a unit of the organization's own
