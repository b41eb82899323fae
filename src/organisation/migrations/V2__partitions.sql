-- Texts are sent compressed, and stored in partitions, each of which may lie on another server.
--
-- `texts` stays on one server and is what foreign keys refer to. The contents are in `contents`, whose partitions may be foreign
-- tables (packaging/organisation/second-server.sql). Neither foreign keys nor unique indexes can span these, so each partition
-- has its own, and a content that is there already stays as it is: its key says that it is the same.
--
-- A commit with changes that were not committed is published as `ID-dirty`.

CREATE TABLE contents (
    key     bytea NOT NULL,                   -- SHA-256 of the text in UTF-8, as in `texts`
    content text NOT NULL
) PARTITION BY HASH (key);

DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format('CREATE TABLE contents_%s PARTITION OF contents FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
        EXECUTE format('ALTER TABLE contents_%s ADD PRIMARY KEY (key)', part);
        -- Where the server was built with it, texts are compressed faster.
        BEGIN
            EXECUTE format('ALTER TABLE contents_%s ALTER content SET COMPRESSION lz4', part);
        EXCEPTION WHEN feature_not_supported THEN
            NULL;
        END;
        -- Texts that contain a literal.
        EXECUTE format('CREATE INDEX contents_%s_by_trigram ON contents_%s USING gin (content gin_trgm_ops)', part, part);
    END LOOP;
END
$$;

INSERT INTO contents (key, content) SELECT t.key, t.content FROM texts t;
ALTER TABLE texts DROP COLUMN content;

-- For the owner ------------------------------------------------------------------------------------------------------

-- Removes abandoned uploads, and texts that no file and no upload needs.
CREATE OR REPLACE FUNCTION sweep(older_than double precision) RETURNS TABLE (uploads_removed bigint, texts_removed bigint, bytes_removed bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, ixmcp, pg_temp AS $$
DECLARE before timestamptz := now() - make_interval(hours => 1) * older_than; removed bytea[];
BEGIN
    WITH gone AS (DELETE FROM uploads u WHERE u.started <= before RETURNING 1) SELECT count(*) INTO uploads_removed FROM gone;
    WITH gone AS (
        DELETE FROM texts t WHERE t.seen <= before
            AND NOT EXISTS (SELECT FROM files f WHERE f.key = t.key)
            AND NOT EXISTS (SELECT FROM claims c WHERE c.key = t.key)
        RETURNING t.key, t.bytes
    ) SELECT count(*), coalesce(sum(g.bytes), 0), array_agg(g.key) INTO texts_removed, bytes_removed, removed FROM gone g;
    DELETE FROM contents c WHERE c.key = ANY (removed);
    RETURN NEXT;
END
$$;

-- The content of an OpenPGP message, which may be compressed. The passphrase is known.
CREATE FUNCTION opened(message bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, ixmcp, pg_temp
RETURN pgp_sym_decrypt_bytea(message, 'ixmcp');

-- The texts of a message: of these sizes in bytes, one after the other.
CREATE FUNCTION unpacked(message bytea, sizes int[]) RETURNS SETOF text LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
DECLARE content bytea := opened(message); start int := 1; size int;
BEGIN
    FOREACH size IN ARRAY sizes LOOP
        RETURN NEXT convert_from(substr(content, start, size), 'UTF8');
        start := start + size;
    END LOOP;
    IF start IS DISTINCT FROM octet_length(content) + 1 THEN
        RAISE EXCEPTION 'the texts are not of these sizes' USING ERRCODE = 'IX003';
    END IF;
END
$$;

-- For all roles ------------------------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION protocol() RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER
SET search_path = pg_catalog, ixmcp, pg_temp AS 'SELECT 2';

DROP FUNCTION send_texts(bigint, text[]);

CREATE FUNCTION send_texts(upload bigint, message bytea, sizes int[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload);
BEGIN
    WITH sent AS MATERIALIZED (
        SELECT DISTINCT ON (1) sha256(convert_to(c, 'UTF8')) AS key, c AS content FROM unpacked(message, send_texts.sizes) c ORDER BY 1
    ), stored AS (
        INSERT INTO texts AS t (key, bytes) SELECT s.key, octet_length(s.content) FROM sent s ORDER BY s.key
            ON CONFLICT (key) DO UPDATE SET seen = now()
        RETURNING t.key, t.xmax = 0 AS is_new
    ), filled AS (
        INSERT INTO contents (key, content) SELECT s.key, s.content FROM sent s JOIN stored t ON t.key = s.key WHERE t.is_new
            ON CONFLICT DO NOTHING
    )
    INSERT INTO claims (upload, key) SELECT own.id, s.key FROM stored s ON CONFLICT DO NOTHING;
END
$$;

-- Makes an upload visible: all of it or nothing.
CREATE OR REPLACE FUNCTION finish_publication(upload bigint, of_commit text) RETURNS TABLE (generation bigint, files int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload); target repos; own_group int := own_trust();
BEGIN
    PERFORM check_publisher(own.name);
    IF of_commit IS NULL OR of_commit !~ '^[0-9a-f]{40}([0-9a-f]{24})?(-dirty)?$' THEN
        RAISE EXCEPTION 'the id of a commit has 40 or 64 hexadecimal digits' USING ERRCODE = 'IX004';
    END IF;
    INSERT INTO repos (name) VALUES (own.name) ON CONFLICT (name) DO NOTHING;
    SELECT r.* INTO target FROM repos r WHERE r.name = own.name FOR UPDATE;
    IF target.generation <> own.generation THEN
        RAISE EXCEPTION 'another commit of % was published meanwhile', own.name USING ERRCODE = 'IX001';
    END IF;
    -- A caller cannot name a text that it neither sent nor can read.
    IF EXISTS (
        SELECT FROM staged s WHERE s.upload = own.id AND s.key IS NOT NULL
            AND NOT EXISTS (SELECT FROM claims c WHERE c.upload = own.id AND c.key = s.key)
            AND NOT EXISTS (SELECT FROM files f WHERE f.key = s.key AND f.repo IN (SELECT readable()))
    ) THEN
        RAISE EXCEPTION 'a text was not sent' USING ERRCODE = 'IX003';
    END IF;
    DELETE FROM files f USING staged s WHERE s.upload = own.id AND s.key IS NULL AND f.repo = target.id AND f.path = s.path;
    INSERT INTO files AS f (repo, path, key, language, blob, lines, inputs)
        SELECT target.id, s.path, s.key, s.language, s.blob, s.lines, s.inputs FROM staged s
        WHERE s.upload = own.id AND s.key IS NOT NULL
        ON CONFLICT (repo, path) DO UPDATE SET key = excluded.key, language = excluded.language, blob = excluded.blob,
            lines = excluded.lines, inputs = excluded.inputs;
    INSERT INTO granted (role, repo) SELECT DISTINCT u.role, target.id FROM rules u WHERE own.name LIKE as_like(u.pattern)
        ON CONFLICT DO NOTHING;
    DELETE FROM uploads u WHERE u.id = own.id;
    RETURN QUERY UPDATE repos r SET commit = of_commit, generation = r.generation + 1, trust = own_group, published_at = now(),
            published_by = session_user, files = total.files, bytes = total.bytes
        FROM (
            SELECT count(*)::int AS files, coalesce(sum(t.bytes), 0)::bigint AS bytes
            FROM files f JOIN texts t ON t.key = f.key WHERE f.repo = target.id
        ) total
        WHERE r.id = target.id RETURNING r.generation, r.files;
END
$$;

-- The files whose text contains one of the literals, in any case. The texts are read where they lie.
CREATE OR REPLACE FUNCTION files_with(names text[], literals text[], most int) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, f.path, f.key, t.bytes
    FROM contents c JOIN files f ON f.key = c.key JOIN repos r ON r.id = f.repo JOIN texts t ON t.key = c.key
    WHERE r.name = ANY (names) AND r.id IN (SELECT readable()) AND c.content ILIKE ANY (ARRAY(
        SELECT '%' || replace(replace(replace(l, '\', '\\'), '%', '\%'), '_', '\_') || '%' FROM unnest(literals) l
    ))
    LIMIT most
$$;

-- The texts of keys, as far as the caller can read a file with that text.
CREATE OR REPLACE FUNCTION texts_of(keys bytea[]) RETURNS TABLE (key bytea, content text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT c.key, c.content FROM contents c
    WHERE c.key = ANY (ARRAY(SELECT k FROM unnest(keys) k WHERE EXISTS (SELECT FROM files f WHERE f.key = k AND f.repo IN (SELECT readable()))))
$$;

REVOKE ALL ON ALL TABLES IN SCHEMA ixmcp FROM PUBLIC;
REVOKE ALL ON FUNCTION opened, unpacked, send_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION send_texts TO ixmcp_user;
