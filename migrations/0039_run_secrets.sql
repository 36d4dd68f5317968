-- Secrets entered for a run, sealed like the secrets of its test; null: none, or the run has ended.
ALTER TABLE flowRun ADD COLUMN secrets BLOB;
