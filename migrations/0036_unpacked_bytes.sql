-- Size of a file's events as the lines of JSON that they came in; null: written by a version that kept none.
ALTER TABLE eventFile ADD COLUMN unpackedBytes INTEGER;
