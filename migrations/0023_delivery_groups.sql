-- Openings for one channel that come soon after another go as one message.
ALTER TABLE delivery ADD COLUMN groupId TEXT;   -- of the opening in whose 30 s this one came; null: it goes by itself
CREATE INDEX deliveryGroup ON delivery (groupId, seq) WHERE groupId IS NOT NULL;
CREATE INDEX deliveryFirst ON delivery (orgId, channelType, channelTarget, throttleAt)
  WHERE transition = 'opened' AND groupId IS NULL;
