-- Every delivery attempt, stored as long as the delivery.
CREATE TABLE deliveryAttempt (
  seq INTEGER PRIMARY KEY,
  deliveryId TEXT NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,                  -- when the attempt began
  durMs INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('delivered', 'retry', 'broken', 'stopped')),
  reason TEXT,                          -- why it was not delivered, or a problem despite delivery; null: no problem
  answer TEXT                           -- beginning of the receiver's response; null: none
) STRICT;
CREATE INDEX deliveryAttemptOf ON deliveryAttempt (deliveryId, seq);
