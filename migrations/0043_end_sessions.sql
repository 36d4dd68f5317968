-- Where a sign-out ends the session at the provider of the company's sign-in too; sealed, because it holds the ID token.
ALTER TABLE session ADD COLUMN endSessionUrl BLOB;
