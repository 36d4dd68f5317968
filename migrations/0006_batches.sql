-- Batches by generation. New batches are added to the latest generation, so that writing thousands of them touches few
-- pages of the file, regardless of the total number. Whole generations are deleted.
CREATE TABLE batchGeneration (
  id INTEGER PRIMARY KEY,
  firstReceivedAt INTEGER NOT NULL,
  lastReceivedAt INTEGER NOT NULL,
  batches INTEGER NOT NULL
) STRICT;

CREATE TABLE knownBatch (
  generation INTEGER NOT NULL,          -- id of a batchGeneration row
  hash INTEGER NOT NULL,                -- of domain and batchId, 64 bits
  accepted INTEGER NOT NULL,
  refused TEXT,                         -- JSON {rejected, errors}; null: nothing was rejected
  PRIMARY KEY (generation, hash)
) STRICT, WITHOUT ROWID;

INSERT INTO batchGeneration SELECT 1, min(receivedAt), max(receivedAt), count(*) FROM batch HAVING count(*) > 0;
INSERT INTO knownBatch SELECT 1, hash, accepted, refused FROM batch ORDER BY hash;
DROP TABLE batch;
ALTER TABLE knownBatch RENAME TO batch;
