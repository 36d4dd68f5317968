-- Audits can be cancelled. SQLite can't change the CHECK of a column, so the column is replaced.
DROP INDEX auditAtWork;
ALTER TABLE audit RENAME COLUMN status TO formerStatus;
ALTER TABLE audit ADD COLUMN status TEXT NOT NULL DEFAULT 'queued'
  CHECK (status IN ('queued', 'running', 'finished', 'failed', 'cancelled'));
UPDATE audit SET status = formerStatus;
ALTER TABLE audit DROP COLUMN formerStatus;
CREATE INDEX auditAtWork ON audit (status, id) WHERE status IN ('queued', 'running');
