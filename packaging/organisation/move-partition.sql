-- Moves one partition of texts to a further server, on which second-server.sql has run. Run on the first server, as a superuser:
--   psql -v ON_ERROR_STOP=1 -v part=7 -v server=texts_2 -f move-partition.sql ixmcp
-- The server must be known, and the owner of the schema must be able to log in there:
--   CREATE EXTENSION postgres_fdw;
--   CREATE SERVER texts_2 FOREIGN DATA WRAPPER postgres_fdw
--       OPTIONS (host 'db2.example.com', dbname 'ixmcp_texts', async_capable 'true', fetch_size '1000', batch_size '100');
--   CREATE USER MAPPING FOR ixmcp_owner SERVER texts_2 OPTIONS (user 'ixmcp_texts', password '…');
--   GRANT USAGE ON FOREIGN SERVER texts_2 TO ixmcp_owner;
-- Publishers and readers of the partition wait until all of it is moved.
\set name contents_ :part
BEGIN;
SET LOCAL search_path = ixmcp, public;
SET ROLE ixmcp_owner;
LOCK TABLE contents IN ACCESS EXCLUSIVE MODE;
CREATE FOREIGN TABLE moved (key bytea NOT NULL, content text COLLATE "C" NOT NULL) SERVER :"server" OPTIONS (schema_name 'public', table_name :'name');
INSERT INTO moved SELECT key, content FROM :"name";
DROP TABLE :"name";
ALTER FOREIGN TABLE moved RENAME TO :"name";
ALTER TABLE contents ATTACH PARTITION :"name" FOR VALUES WITH (MODULUS 16, REMAINDER :part);
RESET ROLE;
COMMIT;
