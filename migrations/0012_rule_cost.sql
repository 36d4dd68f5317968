-- What the conditions of an alert cost, see costOf. Alerts saved before count from when they are saved next.
ALTER TABLE alert ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;
CREATE INDEX alertByCost ON alert (orgId, enabled, cost);
