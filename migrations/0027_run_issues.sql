-- Issues found by runs have no alert that defines the recipients.
ALTER TABLE issue ADD COLUMN channels TEXT;  -- JSON Channel[]; null: the alert's channels
