-- What a caller may not read leaves no trace in the cost of its calls: neither in their time nor in what PostgreSQL counts
-- for every role (pages, in `EXPLAIN (ANALYZE, BUFFERS)`; rows, in `pg_stat_xact_all_tables`). No function reads a row of a
-- file that the caller may not read, or compares its text.
--
-- - Whether a repository has a text is looked up by both. A lookup by the text alone would read rows of all repositories
--   that have it.
-- - A publisher claims what it need not send: later steps ask for claims only.
-- - Names and texts are compared after the rows that the caller may read were chosen. `OFFSET 0` keeps that order.
-- - Indexes of what texts contain are used for roles that read everything. For all others only their own texts are looked at.

DROP INDEX files_by_key;
-- Whether a repository has a text; the files with a text; texts without a file.
CREATE INDEX files_by_key ON files (key, repo);
-- As for the indexes of trigrams: see the third migration.
ALTER INDEX derived_by_term SET (gin_pending_list_limit = 256);

-- Not inlined and without a list of repositories: the plan is one lookup by both columns.
CREATE FUNCTION has_text(of_repo int, of_key bytea) RETURNS boolean LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT FROM files f WHERE f.key = of_key AND f.repo = of_repo);
END
$$;

CREATE FUNCTION readable_named(names text[]) RETURNS TABLE (id int, name text, trust int) LANGUAGE sql STABLE ROWS 1
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.id, r.name, r.trust FROM (SELECT r.* FROM repos r WHERE r.id IN (SELECT readable()) OFFSET 0) r
    WHERE r.name = ANY (names)
$$;

-- Whether the caller may read all that is published, now and later.
CREATE FUNCTION reads_everything() RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT is_member('ixmcp_owner') OR EXISTS (SELECT FROM rules u WHERE u.pattern = '*' AND is_member(u.role))
$$;

-- For all roles ------------------------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION protocol() RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER
SET search_path = pg_catalog, ixmcp, pg_temp AS 'SELECT 3';

-- The id says nothing about how often others publish.
CREATE OR REPLACE FUNCTION begin_publication(repo_name text) RETURNS TABLE (upload bigint, commit text, generation bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE known repos;
BEGIN
    PERFORM check_publisher(repo_name);
    SELECT r.* INTO known FROM repos r WHERE r.name = repo_name;
    RETURN QUERY
        WITH begun AS (
            INSERT INTO uploads (id, role, name, generation) OVERRIDING SYSTEM VALUE
                VALUES ((random() * 9007199254740991)::bigint, session_user, repo_name, coalesce(known.generation, 0))
            RETURNING id, uploads.generation
        )
        SELECT b.id, known.commit, b.generation FROM begun b;
END
$$;

-- Those of the keys that the caller must send: all but those of texts that it sent already, or can read in the repository itself, its
-- branches, or the repositories that were published last, sixteen in all.
CREATE OR REPLACE FUNCTION missing(upload bigint, keys bytea[]) RETURNS SETOF bytea
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own uploads := own_upload(upload);
    near int[] := ARRAY(
        SELECT r.id FROM repos r WHERE r.id IN (SELECT readable())
        ORDER BY r.name = own.name DESC, split_part(r.name, '@', 1) = split_part(own.name, '@', 1) DESC,
            r.published_at DESC NULLS LAST, r.id
        LIMIT 16
    );
BEGIN
    INSERT INTO claims (upload, key)
        SELECT DISTINCT own.id, k FROM unnest(keys) k WHERE EXISTS (SELECT FROM unnest(near) n WHERE has_text(n, k))
        ON CONFLICT DO NOTHING;
    RETURN QUERY SELECT DISTINCT k FROM unnest(keys) k
        WHERE NOT EXISTS (SELECT FROM claims c WHERE c.upload = own.id AND c.key = k);
END
$$;

-- Those of the staged files for whose text the trust group of the caller has no terms yet. Each text counts once. Of a text that the
-- caller did not claim it learns nothing: CASE keeps the order.
CREATE OR REPLACE FUNCTION underived(upload bigint, of_extractor text) RETURNS TABLE (path text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload); own_group int := own_trust();
BEGIN
    RETURN QUERY SELECT min(s.path) FROM staged s WHERE s.upload = own.id AND s.key IS NOT NULL AND
        CASE WHEN EXISTS (SELECT FROM claims c WHERE c.upload = own.id AND c.key = s.key) THEN NOT EXISTS (
            SELECT FROM derived d WHERE d.key = s.key AND d.inputs = s.inputs AND d.extractor = of_extractor AND d.trust = own_group
        ) ELSE true END
        GROUP BY s.key, s.inputs;
END
$$;

-- Terms of staged files, each list as the text of an array.
CREATE OR REPLACE FUNCTION send_terms(upload bigint, of_extractor text, paths text[], terms text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload); own_group int := own_trust();
BEGIN
    INSERT INTO derived (key, inputs, extractor, trust, terms)
        SELECT DISTINCT ON (s.key, s.inputs) s.key, s.inputs, of_extractor, own_group, n.list::int[]
        FROM unnest(paths, send_terms.terms) AS n(path, list)
        JOIN staged s ON s.upload = own.id AND s.path = n.path
        JOIN claims c ON c.upload = own.id AND c.key = s.key
        ORDER BY s.key, s.inputs
        ON CONFLICT DO NOTHING;
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
    -- A caller cannot name a text that it neither sent nor can read.
    IF EXISTS (
        SELECT FROM staged s WHERE s.upload = own.id AND s.key IS NOT NULL
            AND NOT EXISTS (SELECT FROM claims c WHERE c.upload = own.id AND c.key = s.key)
    ) THEN
        RAISE EXCEPTION 'a text was not sent' USING ERRCODE = 'IX003';
    END IF;
    INSERT INTO repos (name) VALUES (own.name) ON CONFLICT (name) DO NOTHING;
    SELECT r.* INTO target FROM repos r WHERE r.name = own.name FOR UPDATE;
    IF target.generation <> own.generation THEN
        RAISE EXCEPTION 'another commit of % was published meanwhile', own.name USING ERRCODE = 'IX001';
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

-- The repositories that the caller can read.
CREATE OR REPLACE FUNCTION repositories(pattern text)
RETURNS TABLE (name text, commit text, generation bigint, published_at text, files int, bytes bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, r.commit, r.generation, to_char(r.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), r.files, r.bytes
    FROM (SELECT r.* FROM repos r WHERE r.id IN (SELECT readable()) OFFSET 0) r
    WHERE r.name LIKE as_like(pattern) ORDER BY r.name
$$;

-- The files of repositories.
CREATE OR REPLACE FUNCTION files_of(names text[]) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, f.path, f.key, t.bytes FROM readable_named(names) r JOIN files f ON f.repo = r.id JOIN texts t ON t.key = f.key
$$;

-- The files whose text contains one of the literals, in any case. The texts are read where they lie.
CREATE OR REPLACE FUNCTION files_with(names text[], literals text[], most int) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE
    patterns text[] := ARRAY(
        SELECT '%' || replace(replace(replace(l, '\', '\\'), '%', '\%'), '_', '\_') || '%' FROM unnest(literals) l
    );
    own bytea[];
BEGIN
    IF reads_everything() THEN
        RETURN QUERY SELECT r.name, f.path, f.key, t.bytes
            FROM contents c JOIN files f ON f.key = c.key JOIN repos r ON r.id = f.repo JOIN texts t ON t.key = c.key
            WHERE r.name = ANY (names) AND c.content ILIKE ANY (patterns) LIMIT most;
        RETURN;
    END IF;
    own := ARRAY(SELECT DISTINCT f.key FROM readable_named(names) r JOIN files f ON f.repo = r.id);
    own := ARRAY(
        SELECT c.key FROM (SELECT c.key, c.content FROM contents c WHERE c.key = ANY (own) OFFSET 0) c
        WHERE c.content ILIKE ANY (patterns)
    );
    RETURN QUERY SELECT r.name, f.path, f.key, t.bytes
        FROM readable_named(names) r JOIN files f ON f.repo = r.id JOIN texts t ON t.key = f.key
        WHERE f.key = ANY (own) LIMIT most;
END
$$;

-- The files that define one of the names, by hash.
CREATE OR REPLACE FUNCTION files_defining(names text[], of_terms int[], most int) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF reads_everything() THEN
        RETURN QUERY SELECT r.name, f.path, f.key, t.bytes
            FROM derived d JOIN files f ON f.key = d.key AND f.inputs = d.inputs
            JOIN repos r ON r.id = f.repo AND r.trust = d.trust JOIN texts t ON t.key = f.key
            WHERE d.terms && of_terms AND r.name = ANY (names) LIMIT most;
        RETURN;
    END IF;
    RETURN QUERY SELECT own.name, own.path, own.key, t.bytes
        FROM (
            SELECT r.name, f.path, f.key, d.terms FROM readable_named(names) r JOIN files f ON f.repo = r.id
            JOIN derived d ON d.key = f.key AND d.inputs = f.inputs AND d.trust = r.trust OFFSET 0
        ) own JOIN texts t ON t.key = own.key
        WHERE own.terms && of_terms LIMIT most;
END
$$;

DROP FUNCTION texts_of(bytea[]);

-- The texts of keys, as far as a file of that repository, or of any that the caller can read, has them.
CREATE FUNCTION texts_of(keys bytea[], of_repo text DEFAULT NULL) RETURNS TABLE (key bytea, content text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE
    within int[] := CASE WHEN of_repo IS NULL THEN ARRAY(SELECT readable())
        ELSE ARRAY(SELECT r.id FROM readable_named(ARRAY[of_repo]) r) END;
    own bytea[] := ARRAY(SELECT DISTINCT k FROM unnest(keys) k WHERE EXISTS (SELECT FROM unnest(within) n WHERE has_text(n, k)));
BEGIN
    RETURN QUERY SELECT c.key, c.content FROM contents c WHERE c.key = ANY (own);
END
$$;

REVOKE ALL ON FUNCTION has_text, readable_named, reads_everything, texts_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION texts_of TO ixmcp_user;
