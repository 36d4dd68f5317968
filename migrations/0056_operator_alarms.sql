-- Problems about which the operator has been notified, so that each is reported once even after a restart.
CREATE TABLE operatorAlarm (
  name TEXT PRIMARY KEY,
  since INTEGER NOT NULL                -- when the operator was notified
) STRICT, WITHOUT ROWID;
