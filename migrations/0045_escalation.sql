-- The organization's escalation steps. An alert with its own steps does not use them.
CREATE TABLE orgEscalation (
  orgId TEXT PRIMARY KEY REFERENCES org ON DELETE CASCADE,
  steps TEXT NOT NULL,                  -- JSON EscalationStep[]
  changedAt INTEGER NOT NULL,
  recheckAfter TEXT                     -- the change has yet to be applied to issues with a higher id; null: applied to all
) STRICT, WITHOUT ROWID;

-- Escalation of an issue since its last announced opening.
CREATE TABLE escalation (
  issueId TEXT PRIMARY KEY REFERENCES issue ON DELETE CASCADE,
  orgId TEXT NOT NULL,
  openingSeq INTEGER NOT NULL,          -- history entry of the opening
  startedAt INTEGER NOT NULL,           -- when the opening was announced; steps count from here
  doneMinutes INTEGER NOT NULL,         -- steps up to this number of minutes have been sent or no longer apply
  sentAt INTEGER,                       -- when the last step was sent; null: none
  dueAt INTEGER,                        -- when the next step is due; null: there is none
  checkAt INTEGER                       -- when the next step has to be looked for; null: never
) STRICT, WITHOUT ROWID;
CREATE INDEX escalationToCheck ON escalation (checkAt) WHERE checkAt IS NOT NULL;
CREATE INDEX escalationByOrg ON escalation (orgId, issueId);

-- Only open issues escalate.
CREATE TRIGGER issueEscalates AFTER UPDATE OF status ON issue WHEN NEW.status <> OLD.status BEGIN
  UPDATE escalation SET checkAt = CASE NEW.status WHEN 'open' THEN 0 END WHERE issueId = NEW.id;
END;

-- Changed steps apply to open issues, except for steps whose time had already passed. A step that was due but not yet
-- sent is still sent.
CREATE TRIGGER alertEscalationChanged AFTER UPDATE OF input, enabled ON alert WHEN
  NEW.enabled <> OLD.enabled
  OR NEW.input -> '$.escalation' IS NOT OLD.input -> '$.escalation'
  OR NEW.input -> '$.runWindows' IS NOT OLD.input -> '$.runWindows'
  OR NEW.input -> '$.timezone' IS NOT OLD.input -> '$.timezone'
BEGIN
  UPDATE escalation SET
    doneMinutes = CASE WHEN dueAt <= NEW.updatedAt THEN doneMinutes
      ELSE max(doneMinutes, (NEW.updatedAt - startedAt) / 60000) END,
    checkAt = 0
  WHERE issueId IN (SELECT id FROM issue WHERE alertId = NEW.id AND status = 'open');
END;

ALTER TABLE delivery ADD COLUMN escalationStep INTEGER;  -- number of the escalation step that sent it; null: none

-- Issues that were open before this version. Their history may have been deleted by now.
INSERT INTO escalation (issueId, orgId, openingSeq, startedAt, doneMinutes)
SELECT issue.id, issue.orgId, opening.seq, opening.createdAt, 0
FROM issue JOIN issueHistory AS opening ON opening.seq = (
  SELECT max(seq) FROM issueHistory WHERE issueId = issue.id AND kind IN ('opened', 'reopened'))
WHERE issue.status IN ('open', 'acknowledged', 'muted') AND issue.notificationsSent > 0;
