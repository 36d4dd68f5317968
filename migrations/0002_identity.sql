-- Sign-in, invitations, projects, and what was done to the organization's security.

CREATE TABLE session (
  tokenHash BLOB PRIMARY KEY,           -- SHA-256
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  via TEXT NOT NULL CHECK (via IN ('password', 'setup', 'invite', 'oidc')),
  createdAt INTEGER NOT NULL,
  lastUsedAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL            -- moves on with every use
) STRICT;
CREATE INDEX sessionByUser ON session (userId);
CREATE INDEX sessionByExpiry ON session (expiresAt);

-- Users as the company's own sign-in knows them.
CREATE TABLE identity (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  createdAt INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT;
CREATE INDEX identityByUser ON identity (userId);

-- An invitation is a membership that was not accepted yet.
ALTER TABLE member ADD COLUMN inviteHash BLOB;            -- SHA-256 of its token; null: a member in full
ALTER TABLE member ADD COLUMN inviteExpiresAt INTEGER;
CREATE UNIQUE INDEX memberByInvite ON member (inviteHash);

CREATE TABLE project (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  name TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX projectByName ON project (orgId, name COLLATE NOCASE);
CREATE INDEX domainByProject ON domain (projectId);

CREATE TABLE auditEntry (
  seq INTEGER PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  at INTEGER NOT NULL,
  act TEXT NOT NULL,                    -- the id of the route, or signIn, signInFailed
  userId TEXT,                          -- who did it; null: nobody we know
  keyId TEXT,                           -- with which API key; null: by a session
  address TEXT,                         -- from where
  target TEXT,                          -- id of what it was done to
  note TEXT NOT NULL                    -- JSON: what else is worth knowing; never a secret
) STRICT;
CREATE INDEX auditEntryByOrg ON auditEntry (orgId, seq);
CREATE INDEX auditEntryByAge ON auditEntry (at);
