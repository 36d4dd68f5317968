-- URL at which a sign-out also ends the session at the company's identity provider. Sealed, because it contains the ID
-- token.
ALTER TABLE session ADD COLUMN endSessionUrl BLOB;
