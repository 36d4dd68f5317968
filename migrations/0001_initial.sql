-- Organizations and the users and API keys that act on their behalf.

CREATE TABLE org (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  webhookSecret BLOB NOT NULL,          -- sealed with master.key; signs webhooks other than those of integrations
  customerSalt TEXT NOT NULL,           -- salt for hashing customer ids
  phoneRegions TEXT NOT NULL DEFAULT '[]',
  createdAt INTEGER NOT NULL
) STRICT;

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  name TEXT,
  passwordHash TEXT,                    -- argon2id; null until a password has been set
  createdAt INTEGER NOT NULL
) STRICT;

CREATE TABLE member (
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  createdAt INTEGER NOT NULL,
  PRIMARY KEY (orgId, userId)
) STRICT;
CREATE INDEX memberByUser ON member (userId);

CREATE TABLE apiKey (
  id TEXT PRIMARY KEY,
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  name TEXT NOT NULL,
  secretHash BLOB NOT NULL UNIQUE,      -- SHA-256
  secretTail TEXT NOT NULL,             -- last four characters, to distinguish keys
  readOnly INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER,                    -- null: never
  revokedAt INTEGER,
  lastUsedAt INTEGER
) STRICT;

-- Monitored properties.

CREATE TABLE domain (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  projectId TEXT,
  name TEXT NOT NULL,
  system TEXT NOT NULL,
  token TEXT NOT NULL UNIQUE,
  previousToken TEXT UNIQUE,            -- after a rotation, valid until previousTokenUntil
  previousTokenUntil INTEGER,
  monitoredUrls TEXT NOT NULL,          -- JSON string[]
  vendors TEXT NOT NULL,                -- JSON DomainVendorConfig[]
  allowManualMonitoring INTEGER NOT NULL,
  screenshotBase64 TEXT,
  lastEventAt INTEGER,
  prodVersion REAL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX domainByOrg ON domain (orgId, id);
CREATE UNIQUE INDEX domainByName ON domain (orgId, name COLLATE NOCASE);

CREATE TABLE hostname (
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  hostname TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('unreviewed', 'approved', 'denied')),
  firstSeenAt INTEGER,                  -- null: added manually and not seen yet
  lastSeenAt INTEGER,
  PRIMARY KEY (domainId, hostname)
) STRICT;

-- Events accepted, rejected and changed by the collector. Written in the transaction that adds a segment's file.

CREATE TABLE eventFile (
  path TEXT PRIMARY KEY,                -- relative to events/
  orgId TEXT,                           -- null: contains events of several organizations
  hour INTEGER NOT NULL,                -- start of the hour in which its events were received, ms
  minReceivedAt INTEGER NOT NULL,
  maxReceivedAt INTEGER NOT NULL,
  maxSeq INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('fresh', 'merged', 'compacted')),
  keys TEXT                             -- JSON string[]: parameters with a separate column; null: not shredded
) STRICT;
CREATE INDEX eventFileByHour ON eventFile (hour);

CREATE TABLE segment (
  name TEXT PRIMARY KEY,                -- loaded spool segments; loading a segment again has no effect
  loadedAt INTEGER NOT NULL
) STRICT;

-- Only the data needed to recognise a repeated batch. Thousands of batches arrive per second in random order, so each
-- byte of a row is written several times.
CREATE TABLE batch (
  hash INTEGER PRIMARY KEY,             -- of domain and batchId, 64 bits
  receivedAt INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  refused TEXT                          -- JSON {rejected, errors}; null: nothing was rejected
) STRICT;

CREATE TABLE usage (
  domainId TEXT NOT NULL,
  orgId TEXT NOT NULL,
  hour INTEGER NOT NULL,                -- start of the hour, ms
  events INTEGER NOT NULL,
  PRIMARY KEY (domainId, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX usageByOrg ON usage (orgId, hour);

CREATE TABLE hostnameUsage (
  domainId TEXT NOT NULL,
  hostname TEXT NOT NULL,
  hour INTEGER NOT NULL,
  events INTEGER NOT NULL,
  PRIMARY KEY (domainId, hostname, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE rejection (
  domainId TEXT NOT NULL,
  orgId TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  sample TEXT NOT NULL,
  firstSeenAt INTEGER NOT NULL,
  lastSeenAt INTEGER NOT NULL,
  PRIMARY KEY (domainId, reason)
) STRICT;

-- Rules, the issues they find, and the notifications.

CREATE TABLE alert (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  input TEXT NOT NULL,                  -- JSON AlertInput, including defaults
  enabled INTEGER NOT NULL,
  evaluatedThrough INTEGER NOT NULL,    -- all events received before this time have been evaluated
  windowStartAt INTEGER NOT NULL,       -- start of the window whose events are being collected
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT;
CREATE INDEX alertByOrg ON alert (orgId, id);

CREATE TABLE issue (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  alertId TEXT NOT NULL,
  alertName TEXT NOT NULL,
  alertType TEXT NOT NULL,
  domainId TEXT,
  subject TEXT NOT NULL,                -- what the issue is about within the alert and domain; empty if the alert type has no such subject
  status TEXT NOT NULL CHECK (status IN ('open', 'acknowledged', 'resolved', 'muted')),
  severity TEXT NOT NULL,
  severityRank INTEGER NOT NULL GENERATED ALWAYS AS (
    CASE severity WHEN 'critical' THEN 3 WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END
  ) VIRTUAL,
  title TEXT NOT NULL,
  occurrences INTEGER NOT NULL,
  capReached INTEGER NOT NULL,
  heldBack INTEGER NOT NULL,            -- notifications held back since the last one that was sent
  notificationsSent INTEGER NOT NULL,
  impactValue INTEGER,
  notes TEXT,
  trackerKey TEXT,
  firstSeenAt INTEGER NOT NULL,
  lastSeenAt INTEGER NOT NULL,
  statusAt INTEGER NOT NULL,            -- time of the last status change
  statusBy TEXT,                        -- user or integration that changed the status manually; null: changed by an evaluation
  resolutionToldAt INTEGER,             -- when recipients are notified of the resolution; null: recipients consider the issue open
  clearWindows INTEGER NOT NULL,        -- complete windows without a firing since the last firing, at most 2
  firing INTEGER NOT NULL,              -- 1 until a whole window passes without a firing
  firedWindowAt INTEGER NOT NULL,       -- start of the last window with a firing in the history
  hosts TEXT,                           -- JSON string[], most frequent first
  evidence TEXT                         -- JSON Finding: the most recent firing
) STRICT;
CREATE INDEX issueByAlert ON issue (alertId, domainId, subject);
CREATE INDEX issueByOrg ON issue (orgId, status, lastSeenAt);
-- Sort order of the issue list, in reverse.
CREATE INDEX issueByWeight ON issue (orgId, severityRank, ifnull(impactValue, -1), lastSeenAt, id);
-- Prevents concurrent evaluations from opening the same issue twice.
CREATE UNIQUE INDEX issueUnsettled ON issue (alertId, ifnull(domainId, ''), subject) WHERE status <> 'resolved';

CREATE TABLE issueHistory (
  seq INTEGER PRIMARY KEY,
  issueId TEXT NOT NULL REFERENCES issue ON DELETE CASCADE,
  kind TEXT NOT NULL,
  payload TEXT,                         -- JSON object
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX issueHistoryByIssue ON issueHistory (issueId, seq);

CREATE TABLE issueOccurrence (
  issueId TEXT NOT NULL REFERENCES issue ON DELETE CASCADE,
  day TEXT NOT NULL,                    -- YYYY-MM-DD, UTC
  count INTEGER NOT NULL,
  PRIMARY KEY (issueId, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE integration (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  provider TEXT NOT NULL,
  label TEXT NOT NULL,
  status TEXT NOT NULL,
  config TEXT NOT NULL,                 -- JSON without its secrets
  secrets BLOB NOT NULL,                -- JSON of the secrets, sealed with master.key
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX integrationByOrg ON integration (orgId, id);

CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,              -- creation order; a delivery waits for earlier ones about the same issue to the same channel
  id TEXT NOT NULL UNIQUE,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  issueId TEXT REFERENCES issue ON DELETE CASCADE,   -- null: a test message
  alertId TEXT,
  transition TEXT NOT NULL,             -- opened, reopened, repeated, resolved, test, delivery_failed
  noticeKey TEXT NOT NULL,              -- issue and instance of the transition; throttles count these keys
  transitionKey TEXT NOT NULL UNIQUE,   -- one row per issue, transition and channel
  channelType TEXT NOT NULL,
  channelTarget TEXT NOT NULL,          -- an address, an integration's id, or 'owners' for e-mails about failed deliveries
  message TEXT NOT NULL,                -- JSON Message: the content before rendering
  status TEXT NOT NULL CHECK (status IN ('pending', 'sending', 'delivered', 'failed', 'withdrawn')),
  attempts INTEGER NOT NULL,
  dueAt INTEGER NOT NULL,
  throttleAt INTEGER,                   -- when it counts towards the alert's throttle; null: never
  expiresAt INTEGER,                    -- withdrawn if not sent by this time; null: never
  lastAttemptAt INTEGER,
  lastError TEXT,
  deliveredAt INTEGER,                  -- first successful delivery
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveryDue ON delivery (dueAt) WHERE status = 'pending';
CREATE INDEX deliveryUnderWay ON delivery (channelType, channelTarget) WHERE status = 'sending';
CREATE INDEX deliveryExpiry ON delivery (expiresAt) WHERE status = 'pending' AND expiresAt IS NOT NULL;
CREATE INDEX deliveryByNotice ON delivery (noticeKey);
CREATE INDEX deliveryByIssue ON delivery (issueId, seq);
CREATE INDEX deliveryByOrg ON delivery (orgId, seq);
CREATE INDEX deliveryByAlert ON delivery (alertId, throttleAt);
