-- Issues have an assignee and comments. Rules determine the assignee of new issues.
ALTER TABLE issue ADD COLUMN assigneeId TEXT;          -- a member of the organization; null: unassigned
ALTER TABLE issue ADD COLUMN commentCount INTEGER NOT NULL DEFAULT 0;
CREATE INDEX issueByAssignee ON issue (orgId, assigneeId) WHERE assigneeId IS NOT NULL;

CREATE TABLE issueComment (
  seq INTEGER PRIMARY KEY,              -- order in which the comments were written
  id TEXT NOT NULL UNIQUE,
  issueId TEXT NOT NULL REFERENCES issue ON DELETE CASCADE,
  userId TEXT NOT NULL,                 -- the author, who may have left the organization
  body TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX issueCommentOf ON issueComment (issueId, seq);

-- A rule that names a deleted domain, project or label would match nothing, or everything without that condition.
CREATE TABLE ownershipRule (
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  position INTEGER NOT NULL,            -- the first rule that matches is used
  domainId TEXT REFERENCES domain ON DELETE CASCADE,
  projectId TEXT REFERENCES project ON DELETE CASCADE,
  vendor TEXT,
  labelId TEXT REFERENCES label ON DELETE CASCADE,
  pathPrefix TEXT,
  assigneeId TEXT,                      -- null: assigns nobody
  channels TEXT NOT NULL,               -- JSON AlertChannel[]
  PRIMARY KEY (orgId, position)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER memberUnassigned AFTER DELETE ON member BEGIN
  UPDATE issue SET assigneeId = NULL WHERE orgId = OLD.orgId AND assigneeId = OLD.userId;
  UPDATE ownershipRule SET assigneeId = NULL WHERE orgId = OLD.orgId AND assigneeId = OLD.userId;
END;
