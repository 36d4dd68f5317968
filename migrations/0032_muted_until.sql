-- Issues that are muted temporarily reopen automatically.
ALTER TABLE issue ADD COLUMN mutedUntil INTEGER;  -- null: until a user unmutes it
CREATE INDEX issueMutedUntil ON issue (mutedUntil) WHERE mutedUntil IS NOT NULL;
