-- Settings of a domain's browser script.
ALTER TABLE domain ADD COLUMN captureEnabled INTEGER NOT NULL DEFAULT 1 CHECK (captureEnabled IN (0, 1));
ALTER TABLE domain ADD COLUMN captureProdRate REAL NOT NULL DEFAULT 1;   -- share of sessions that are captured
ALTER TABLE domain ADD COLUMN captureDevRate REAL NOT NULL DEFAULT 1;
ALTER TABLE domain ADD COLUMN sessionMode TEXT NOT NULL DEFAULT 'memory'
  CHECK (sessionMode IN ('memory', 'sessionStorage', 'customer'));
