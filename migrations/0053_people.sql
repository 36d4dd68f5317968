-- Where a session was opened.
ALTER TABLE session ADD COLUMN address TEXT;
ALTER TABLE session ADD COLUMN userAgent TEXT;

-- Scopes of an API key, as a JSON array. Read-only keys have the scope "read".
ALTER TABLE apiKey ADD COLUMN scopes TEXT NOT NULL DEFAULT '["all"]';
UPDATE apiKey SET scopes = '["read"]' WHERE readOnly = 1;
ALTER TABLE apiKey DROP COLUMN readOnly;

-- 1: members need a second factor.
ALTER TABLE org ADD COLUMN requireSecondFactor INTEGER NOT NULL DEFAULT 0;

-- Authenticator apps as second factors (RFC 6238).
CREATE TABLE totp (
  userId TEXT PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  secret BLOB NOT NULL,                 -- sealed with master.key
  createdAt INTEGER NOT NULL,
  confirmedAt INTEGER,                  -- null until the first code has been entered; sign-in then requires a code
  lastStep INTEGER NOT NULL DEFAULT 0   -- time step of the last code used for a sign-in; earlier codes are refused
) STRICT;

-- Recovery codes that have not been used.
CREATE TABLE recoveryCode (
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  codeHash BLOB NOT NULL,               -- SHA-256
  PRIMARY KEY (userId, codeHash)
) STRICT, WITHOUT ROWID;
