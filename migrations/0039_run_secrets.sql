-- Secrets that were entered for a run, sealed like those of its test; null: none, or the run ended.
ALTER TABLE flowRun ADD COLUMN secrets BLOB;
