-- The cost of an alert's conditions, see costOf. Alerts saved by earlier versions count from their next save.
ALTER TABLE alert ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;
CREATE INDEX alertByCost ON alert (orgId, enabled, cost);
