-- Steps whose screenshots a link shows: a JSON array of indexes. Links from before show none.
ALTER TABLE share ADD COLUMN screenshots TEXT NOT NULL DEFAULT '[]';
