-- Steps whose screenshots are shown by a link: a JSON array of indexes. Existing links show none.
ALTER TABLE share ADD COLUMN screenshots TEXT NOT NULL DEFAULT '[]';
