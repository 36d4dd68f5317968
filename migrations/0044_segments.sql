-- Files written by earlier versions lack the columns for segments. JSON, like `keys`.
ALTER TABLE eventFile ADD COLUMN hasSegments TEXT NOT NULL DEFAULT 'false';
