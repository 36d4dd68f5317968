-- Only invited members have a hash. With an index of all members, SQLite would assume that a search for members without
-- a hash finds one row, and would read every member to find those of one user. Therefore the index contains only
-- invitations.
DROP INDEX memberByInvite;
CREATE UNIQUE INDEX memberByInvite ON member (inviteHash) WHERE inviteHash IS NOT NULL;
