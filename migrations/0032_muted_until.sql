-- Issues that are muted for a while open again by themselves.
ALTER TABLE issue ADD COLUMN mutedUntil INTEGER;  -- null: until somebody unmutes it
CREATE INDEX issueMutedUntil ON issue (mutedUntil) WHERE mutedUntil IS NOT NULL;
