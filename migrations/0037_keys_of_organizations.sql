-- A key belongs to the organization in which it was created. The audit log has an entry in each of the creator's
-- organizations; the last entry is for the organization of the request. Without an entry, the key belongs to the
-- creator's only organization, or else to the one in which the key was last used, or else to the oldest. A key whose
-- creator belongs to no organization is useless and is revoked.
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
