-- Links with which somebody who forgot their password sets a new one: once, within an hour; one for each user.
CREATE TABLE passwordReset (
  userId TEXT PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  tokenHash BLOB NOT NULL UNIQUE,
  expiresAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
