-- Damaged files are excluded from all results until they are repaired.
ALTER TABLE eventFile ADD COLUMN sum INTEGER;          -- CRC-32 of the file; null: written by a version without checksums
ALTER TABLE eventFile ADD COLUMN damagedAt INTEGER;    -- when the file was found damaged or missing, ms; null: in use
ALTER TABLE rollupFile ADD COLUMN sum INTEGER;
ALTER TABLE rollupFile ADD COLUMN damagedAt INTEGER;
ALTER TABLE pageFile ADD COLUMN sum INTEGER;
ALTER TABLE pageFile ADD COLUMN damagedAt INTEGER;
