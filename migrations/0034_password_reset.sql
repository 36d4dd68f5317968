-- Password reset links: valid once and for one hour, one per user.
CREATE TABLE passwordReset (
  userId TEXT PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  tokenHash BLOB NOT NULL UNIQUE,
  expiresAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
