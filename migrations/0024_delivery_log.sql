-- Every attempt of a delivery, for as long as the delivery is kept.
CREATE TABLE deliveryAttempt (
  seq INTEGER PRIMARY KEY,
  deliveryId TEXT NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,                  -- when it began
  durMs INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('delivered', 'retry', 'broken', 'stopped')),
  reason TEXT,                          -- why it did not arrive, or what went wrong all the same; null: nothing
  answer TEXT                           -- the beginning of what the other side said; null: nothing
) STRICT;
CREATE INDEX deliveryAttemptOf ON deliveryAttempt (deliveryId, seq);
