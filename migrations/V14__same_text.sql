-- Which other chunk has the same text: the `id` of a hit names a chunk by its text alone, wherever its file goes, unless a file
-- before it has that text, too. The first bytes tell nearly all apart and take half the space.
CREATE INDEX chunks_by_hash ON chunks (substr(hash, 1, 4));
