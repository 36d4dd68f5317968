-- A key belongs to one organization: the one in which it was created. The audit log had an entry in each organization of the
-- creator, that of the caller's own last. Unknown: the creator's only organization; of several the one that the key used last,
-- or else the oldest. A key whose creator belongs to no organization opens nothing, and is revoked.
ALTER TABLE apiKey ADD COLUMN orgId TEXT REFERENCES org ON DELETE CASCADE;
WITH
  made AS MATERIALIZED (
    SELECT target AS keyId, orgId, max(seq) FROM auditEntry WHERE act = 'createKey' GROUP BY target),
  used AS MATERIALIZED (
    SELECT keyId, entry.orgId, max(seq) FROM auditEntry AS entry JOIN apiKey AS used ON used.id = keyId
    WHERE entry.orgId IN (SELECT orgId FROM member WHERE userId = used.userId AND inviteHash IS NULL) GROUP BY keyId)
UPDATE apiKey SET orgId = coalesce(
  (SELECT orgId FROM made WHERE keyId = apiKey.id),
  (SELECT min(orgId) FROM member WHERE userId = apiKey.userId AND inviteHash IS NULL HAVING count(*) = 1),
  (SELECT orgId FROM used WHERE keyId = apiKey.id),
  (SELECT min(orgId) FROM member WHERE userId = apiKey.userId AND inviteHash IS NULL));
UPDATE apiKey SET revokedAt = createdAt WHERE orgId IS NULL AND revokedAt IS NULL;
CREATE INDEX apiKeyByOrg ON apiKey (orgId, userId);
