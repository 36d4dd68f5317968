-- So that a round of evaluation reads the alerts that are due and no others.

-- Before this nothing of the alert is due; 0: that is not known, and it is looked at.
ALTER TABLE alert ADD COLUMN dueAt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alert ADD COLUMN alertType TEXT GENERATED ALWAYS AS (json_extract(input, '$.alertType')) VIRTUAL;
CREATE INDEX alertByDue ON alert (alertType, dueAt, id) WHERE enabled = 1;
