-- Sign-in, invitations, projects, and the audit log of the organization.

CREATE TABLE session (
  tokenHash BLOB PRIMARY KEY,           -- SHA-256
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  via TEXT NOT NULL CHECK (via IN ('password', 'setup', 'invite', 'oidc')),
  createdAt INTEGER NOT NULL,
  lastUsedAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL            -- extended with every use
) STRICT;
CREATE INDEX sessionByUser ON session (userId);
CREATE INDEX sessionByExpiry ON session (expiresAt);

-- Users as identified by the company's identity provider.
CREATE TABLE identity (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  createdAt INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT;
CREATE INDEX identityByUser ON identity (userId);

-- An invitation is a membership that has not been accepted yet.
ALTER TABLE member ADD COLUMN inviteHash BLOB;            -- SHA-256 of the invitation token; null: a full member
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
  userId TEXT,                          -- the user who did it; null: unknown
  keyId TEXT,                           -- the API key used; null: a session
  address TEXT,                         -- the client's IP address
  target TEXT,                          -- id of the affected resource
  note TEXT NOT NULL                    -- JSON: additional details; never contains secrets
) STRICT;
CREATE INDEX auditEntryByOrg ON auditEntry (orgId, seq);
CREATE INDEX auditEntryByAge ON auditEntry (at);
