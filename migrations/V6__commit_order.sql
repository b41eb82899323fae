-- Commits in the order of their ancestry, which times do not have: a rebase makes many commits in one second, and clocks differ.

ALTER TABLE commits ADD COLUMN corrected_time INTEGER NOT NULL DEFAULT 0;
-- `corrected_time` is the time, or a second after the newest parent if that is later: git's "corrected commit date". It orders commits.
-- Merges are listed with the files in which they differ from every parent; their `file_count` is 0.

DROP VIEW commit_files;
CREATE VIEW commit_files AS
-- The files that commits changed: `SELECT * FROM commit_files WHERE path = 'src/main.rs' ORDER BY corrected_time DESC`.
SELECT c.hash, c.time, c.corrected_time, c.author, c.subject, p.path, r.status, o.path AS from_path
FROM commit_file_rows r JOIN commit_paths p ON p.id = r.path_id JOIN commits c ON c.id = r.commit_id
LEFT JOIN commit_paths o ON o.id = r.from_path_id;
