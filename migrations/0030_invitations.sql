-- Members who are not invited have no hash. In an index of them all, SQLite takes "no hash" for one row and reads every
-- member to find one user's; so the index holds invitations alone.
DROP INDEX memberByInvite;
CREATE UNIQUE INDEX memberByInvite ON member (inviteHash) WHERE inviteHash IS NOT NULL;
