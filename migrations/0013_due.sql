-- Allows a round of evaluation to read only the alerts that are due.

-- The alert need not be evaluated before this time; 0: unknown, so it is checked.
ALTER TABLE alert ADD COLUMN dueAt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alert ADD COLUMN alertType TEXT GENERATED ALWAYS AS (json_extract(input, '$.alertType')) VIRTUAL;
CREATE INDEX alertByDue ON alert (alertType, dueAt, id) WHERE enabled = 1;
