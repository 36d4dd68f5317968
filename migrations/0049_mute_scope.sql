-- Why an issue is muted, and on which hosts.
ALTER TABLE issue ADD COLUMN muteReason TEXT;
ALTER TABLE issue ADD COLUMN mutedHosts TEXT;  -- JSON list; null: on all hosts
