-- Makes the table of one partition of texts on a further server. Run there, as the role that the first server will log in as:
--   psql -v ON_ERROR_STOP=1 -v part=7 -f second-server.sql ixmcp_texts
-- Then move-partition.sql moves the texts.
\set name contents_ :part
\set index contents_ :part _by_trigram
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE TABLE :"name" (key bytea PRIMARY KEY, content text COLLATE "C" NOT NULL);
-- Texts that contain a literal.
CREATE INDEX :"index" ON :"name" USING gin (lower(content) gin_trgm_ops) WITH (gin_pending_list_limit = 256);
