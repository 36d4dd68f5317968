-- Openings for one channel in quick succession are sent as one message.
ALTER TABLE delivery ADD COLUMN groupId TEXT;   -- first opening of the 30 s window in which this one occurred; null: sent separately
CREATE INDEX deliveryGroup ON delivery (groupId, seq) WHERE groupId IS NOT NULL;
CREATE INDEX deliveryFirst ON delivery (orgId, channelType, channelTarget, throttleAt)
  WHERE transition = 'opened' AND groupId IS NULL;
