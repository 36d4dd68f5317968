-- Issues of runs have no alert that says whom to tell.
ALTER TABLE issue ADD COLUMN channels TEXT;  -- JSON Channel[]; null: those of its alert
