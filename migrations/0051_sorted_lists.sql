-- For lists sorted by a column, and the names of targets in the audit log.
CREATE INDEX auditEntryByTarget ON auditEntry (orgId, target, seq);
CREATE INDEX auditEntryByAct ON auditEntry (orgId, act, seq);
CREATE INDEX deliveryByStatus ON delivery (orgId, status, seq);
CREATE INDEX deliveryByChannelType ON delivery (orgId, channelType, seq);
CREATE INDEX deliveryByAttempts ON delivery (orgId, attempts, seq);
