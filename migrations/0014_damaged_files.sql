-- Files that are not as they were written are left out of every answer until they are whole again.
ALTER TABLE eventFile ADD COLUMN sum INTEGER;          -- CRC-32 of its bytes; null: written by a version that kept none
ALTER TABLE eventFile ADD COLUMN damagedAt INTEGER;    -- when it was found damaged or gone, ms; null: it is in use
ALTER TABLE rollupFile ADD COLUMN sum INTEGER;
ALTER TABLE rollupFile ADD COLUMN damagedAt INTEGER;
ALTER TABLE pageFile ADD COLUMN sum INTEGER;
ALTER TABLE pageFile ADD COLUMN damagedAt INTEGER;
