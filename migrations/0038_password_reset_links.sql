-- Password reset links: earlier links remain valid, at most three per user.
CREATE TABLE passwordResetLink (
  tokenHash BLOB PRIMARY KEY,
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  expiresAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO passwordResetLink (tokenHash, userId, expiresAt) SELECT tokenHash, userId, expiresAt FROM passwordReset;
DROP TABLE passwordReset;
ALTER TABLE passwordResetLink RENAME TO passwordReset;
CREATE INDEX passwordResetByUser ON passwordReset (userId);
