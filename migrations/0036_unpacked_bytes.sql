-- Size of a file's events as received, in lines of JSON; null: written by a version that did not store it.
ALTER TABLE eventFile ADD COLUMN unpackedBytes INTEGER;
