-- Where the events of this folder are stored. Without a row, they are in its own files.
CREATE TABLE warehouseEngine (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  engine TEXT NOT NULL CHECK (engine = 'clickhouse'),
  insertedTo TEXT NOT NULL              -- newest inserted segment; '' if there is none
) STRICT;
