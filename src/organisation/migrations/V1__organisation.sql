-- The schema `ixmcp` of an organisation's server.
--
-- Objects belong to the role `ixmcp_owner`, which cannot log in. Other roles cannot read a table. They may execute the functions at
-- the end, which run as the owner with a fixed search path and decide by `session_user` what the caller may see.
--
-- Access: a role reads the repositories that it was granted, directly or as a member of a granted role. Texts are stored once by
-- their SHA-256, which the server computes. No function reports whether a text exists unless the caller can read it elsewhere.
--
-- Each index names the query it serves.

-- Publishers that trust each other share what is derived from texts.
CREATE TABLE trust_groups (
    id   int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

-- The trust group of each granted role.
CREATE TABLE members (
    role  name PRIMARY KEY,
    trust int NOT NULL REFERENCES trust_groups
);

-- What was granted: names of repositories, in which `*` matches any text.
CREATE TABLE rules (
    role        name NOT NULL,
    pattern     text NOT NULL,
    may_publish boolean NOT NULL,
    PRIMARY KEY (role, pattern)
);

CREATE TABLE repos (
    id           int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name         text NOT NULL UNIQUE,
    commit       text,
    generation   bigint NOT NULL DEFAULT 0,   -- publications so far
    trust        int REFERENCES trust_groups, -- of the last publisher
    published_at timestamptz,
    published_by name,
    files        int NOT NULL DEFAULT 0,
    bytes        bigint NOT NULL DEFAULT 0
);

-- The rules applied to the repositories that exist.
CREATE TABLE granted (
    role name NOT NULL,
    repo int NOT NULL REFERENCES repos ON DELETE CASCADE,
    PRIMARY KEY (role, repo)
);
-- Removing a repository.
CREATE INDEX granted_by_repo ON granted (repo);

CREATE TABLE texts (
    key     bytea PRIMARY KEY,                -- SHA-256 of the text in UTF-8
    content text NOT NULL,
    bytes   int NOT NULL,
    seen    timestamptz NOT NULL DEFAULT now() -- last sent
);
-- Texts that contain a literal.
CREATE INDEX texts_by_trigram ON texts USING gin (content gin_trgm_ops);

CREATE TABLE files (
    repo     int NOT NULL REFERENCES repos ON DELETE CASCADE,
    path     text NOT NULL,
    key      bytea NOT NULL REFERENCES texts,
    language text NOT NULL,
    blob     text NOT NULL,                   -- git's id of the file, by which a publisher recognizes it as unchanged
    lines    int NOT NULL,
    inputs   text NOT NULL,                   -- what extraction reads of the path
    PRIMARY KEY (repo, path)
);
-- Files with a text; texts without a file.
CREATE INDEX files_by_key ON files (key);

-- What is derived from a text: hashes of the names that it defines.
CREATE TABLE derived (
    key       bytea NOT NULL REFERENCES texts ON DELETE CASCADE,
    inputs    text NOT NULL,
    extractor text NOT NULL,
    trust     int NOT NULL REFERENCES trust_groups,
    terms     int[] NOT NULL,
    PRIMARY KEY (key, inputs, extractor, trust)
);
-- Texts that define a name.
CREATE INDEX derived_by_term ON derived USING gin (terms);

-- Publications that are not finished.
CREATE TABLE uploads (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    role       name NOT NULL,
    name       text NOT NULL,
    generation bigint NOT NULL,               -- of the repository when it began
    started    timestamptz NOT NULL DEFAULT now()
);

-- Texts that an upload sent in full.
CREATE TABLE claims (
    upload bigint NOT NULL REFERENCES uploads ON DELETE CASCADE,
    key    bytea NOT NULL REFERENCES texts,
    PRIMARY KEY (upload, key)
);
-- Texts that a sweep must keep.
CREATE INDEX claims_by_key ON claims (key);

-- Files that an upload changes; `key` is NULL for a file that is gone.
CREATE TABLE staged (
    upload   bigint NOT NULL REFERENCES uploads ON DELETE CASCADE,
    path     text NOT NULL,
    key      bytea,
    language text,
    blob     text,
    lines    int,
    inputs   text,
    PRIMARY KEY (upload, path)
);

-- A pattern of names as LIKE has it.
CREATE FUNCTION as_like(pattern text) RETURNS text LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT replace(replace(replace(replace(pattern, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')
$$;

CREATE FUNCTION is_member(role name) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role AND pg_has_role(session_user, r.oid, 'MEMBER'))
$$;

CREATE FUNCTION readable() RETURNS SETOF int LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.id FROM repos r WHERE is_member('ixmcp_owner')
    UNION
    SELECT g.repo FROM granted g
    WHERE g.role IN (SELECT r.rolname FROM pg_roles r WHERE pg_has_role(session_user, r.oid, 'MEMBER'))
$$;

CREATE FUNCTION check_publisher(repo_name text) RETURNS void LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
BEGIN
    IF repo_name IS NULL OR length(repo_name) > 200
        OR repo_name !~ '^[A-Za-z0-9._+-]+(/[A-Za-z0-9._+-]+)*(@[A-Za-z0-9._+-]+(/[A-Za-z0-9._+-]+)*)?$' THEN
        RAISE EXCEPTION 'the name of a repository has at most 200 letters, digits and . _ + - in parts separated by /'
            USING ERRCODE = 'IX004';
    END IF;
    IF NOT EXISTS (
        SELECT FROM rules u WHERE u.may_publish AND repo_name LIKE as_like(u.pattern) AND is_member(u.role)
    ) THEN
        RAISE EXCEPTION 'the role % may not publish %', session_user, repo_name USING ERRCODE = 'IX002';
    END IF;
END
$$;

CREATE FUNCTION own_trust() RETURNS int LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT m.trust FROM members m WHERE is_member(m.role) ORDER BY (m.role = session_user) DESC, m.role LIMIT 1
$$;

-- An upload of the caller, locked.
CREATE FUNCTION own_upload(upload bigint) RETURNS uploads LANGUAGE plpgsql
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
DECLARE found_upload uploads;
BEGIN
    SELECT u.* INTO found_upload FROM uploads u WHERE u.id = upload AND u.role = session_user FOR UPDATE;
    IF found_upload.id IS NULL THEN
        RAISE EXCEPTION 'the publication was swept, or is not yours' USING ERRCODE = 'IX001';
    END IF;
    RETURN found_upload;
END
$$;

-- For the owner ------------------------------------------------------------------------------------------------------

CREATE FUNCTION grant_repos(role name, repo_pattern text, publish boolean, trust_name text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE of_role name := role; trust_id int;
BEGIN
    IF trust_name IS NOT NULL OR NOT EXISTS (SELECT FROM members m WHERE m.role = of_role) THEN
        INSERT INTO trust_groups (name) VALUES (coalesce(trust_name, 'role ' || of_role)) ON CONFLICT DO NOTHING;
        SELECT t.id INTO trust_id FROM trust_groups t WHERE t.name = coalesce(trust_name, 'role ' || of_role);
        INSERT INTO members AS m (role, trust) VALUES (of_role, trust_id)
            ON CONFLICT (role) DO UPDATE SET trust = excluded.trust;
    END IF;
    INSERT INTO rules (role, pattern, may_publish) VALUES (of_role, repo_pattern, publish)
        ON CONFLICT (role, pattern) DO UPDATE SET may_publish = excluded.may_publish;
    INSERT INTO granted (role, repo) SELECT of_role, r.id FROM repos r WHERE r.name LIKE as_like(repo_pattern)
        ON CONFLICT DO NOTHING;
END
$$;

-- Removes a rule. What other rules of the role grant stays granted.
CREATE FUNCTION revoke_repos(of_role name, repo_pattern text) RETURNS int LANGUAGE plpgsql
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
DECLARE removed int;
BEGIN
    DELETE FROM rules u WHERE u.role = of_role AND u.pattern = repo_pattern;
    GET DIAGNOSTICS removed = ROW_COUNT;
    DELETE FROM granted g USING repos r WHERE g.role = of_role AND r.id = g.repo AND NOT EXISTS (
        SELECT FROM rules u WHERE u.role = of_role AND r.name LIKE as_like(u.pattern)
    );
    RETURN removed;
END
$$;

-- Removes abandoned uploads, and texts that no file and no upload needs.
CREATE FUNCTION sweep(older_than double precision) RETURNS TABLE (uploads_removed bigint, texts_removed bigint, bytes_removed bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, ixmcp, pg_temp AS $$
DECLARE before timestamptz := now() - make_interval(hours => 1) * older_than;
BEGIN
    WITH gone AS (DELETE FROM uploads u WHERE u.started <= before RETURNING 1) SELECT count(*) INTO uploads_removed FROM gone;
    WITH gone AS (
        DELETE FROM texts t WHERE t.seen <= before
            AND NOT EXISTS (SELECT FROM files f WHERE f.key = t.key)
            AND NOT EXISTS (SELECT FROM claims c WHERE c.key = t.key)
        RETURNING t.bytes
    ) SELECT count(*), coalesce(sum(gone.bytes), 0) INTO texts_removed, bytes_removed FROM gone;
    RETURN NEXT;
END
$$;

-- For all roles ------------------------------------------------------------------------------------------------------

-- Grows when the functions below change.
CREATE FUNCTION protocol() RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER
SET search_path = pg_catalog, ixmcp, pg_temp AS 'SELECT 1';

CREATE FUNCTION begin_publication(repo_name text) RETURNS TABLE (upload bigint, commit text, generation bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE known repos;
BEGIN
    PERFORM check_publisher(repo_name);
    SELECT r.* INTO known FROM repos r WHERE r.name = repo_name;
    RETURN QUERY
        WITH begun AS (
            INSERT INTO uploads (role, name, generation) VALUES (session_user, repo_name, coalesce(known.generation, 0))
            RETURNING id, uploads.generation
        )
        SELECT b.id, known.commit, b.generation FROM begun b;
END
$$;

-- The files of the repository of an upload as they are published.
CREATE FUNCTION published(upload bigint) RETURNS TABLE (path text, blob text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload);
BEGIN
    PERFORM check_publisher(own.name);
    RETURN QUERY SELECT f.path, f.blob FROM files f JOIN repos r ON r.id = f.repo WHERE r.name = own.name;
END
$$;

-- Those of the keys that the caller must send: all but those of texts that it sent already or can read.
CREATE FUNCTION missing(upload bigint, keys bytea[]) RETURNS SETOF bytea
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload);
BEGIN
    RETURN QUERY SELECT DISTINCT k FROM unnest(keys) k
        WHERE NOT EXISTS (SELECT FROM claims c WHERE c.upload = own.id AND c.key = k)
        AND NOT EXISTS (SELECT FROM files f WHERE f.key = k AND f.repo IN (SELECT readable()));
END
$$;

CREATE FUNCTION send_texts(upload bigint, contents text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload);
BEGIN
    WITH sent AS (
        SELECT DISTINCT ON (1) sha256(convert_to(c, 'UTF8')) AS key, c AS content FROM unnest(contents) c WHERE c IS NOT NULL ORDER BY 1
    ), stored AS (
        INSERT INTO texts AS t (key, content, bytes) SELECT s.key, s.content, octet_length(s.content) FROM sent s ORDER BY s.key
            ON CONFLICT (key) DO UPDATE SET seen = now()
        RETURNING t.key
    )
    INSERT INTO claims (upload, key) SELECT own.id, s.key FROM stored s ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION stage_files(
    upload bigint, paths text[], keys bytea[], languages text[], blobs text[], line_counts int[], inputs text[]
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload);
BEGIN
    INSERT INTO staged (upload, path, key, language, blob, lines, inputs)
        SELECT own.id, s.* FROM unnest(paths, keys, languages, blobs, line_counts, stage_files.inputs) AS s
        ON CONFLICT (upload, path) DO UPDATE SET key = excluded.key, language = excluded.language, blob = excluded.blob,
            lines = excluded.lines, inputs = excluded.inputs;
END
$$;

CREATE FUNCTION stage_gone(upload bigint, paths text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload);
BEGIN
    INSERT INTO staged (upload, path) SELECT own.id, p FROM unnest(paths) p ON CONFLICT (upload, path) DO UPDATE SET key = NULL;
END
$$;

-- Those of the staged files, by number, for whose text the trust group of the caller has no terms yet. Each text counts once.
CREATE FUNCTION underived(upload bigint, of_extractor text) RETURNS TABLE (path text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload); own_group int := own_trust();
BEGIN
    RETURN QUERY SELECT min(s.path) FROM staged s WHERE s.upload = own.id AND s.key IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM derived d WHERE d.key = s.key AND d.inputs = s.inputs AND d.extractor = of_extractor AND d.trust = own_group
        )
        GROUP BY s.key, s.inputs;
END
$$;

-- Terms of staged files, each list as the text of an array.
CREATE FUNCTION send_terms(upload bigint, of_extractor text, paths text[], terms text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload); own_group int := own_trust();
BEGIN
    INSERT INTO derived (key, inputs, extractor, trust, terms)
        SELECT DISTINCT ON (s.key, s.inputs) s.key, s.inputs, of_extractor, own_group, n.list::int[]
        FROM unnest(paths, send_terms.terms) AS n(path, list)
        JOIN staged s ON s.upload = own.id AND s.path = n.path
        WHERE EXISTS (SELECT FROM claims c WHERE c.upload = own.id AND c.key = s.key)
            OR EXISTS (SELECT FROM files f WHERE f.key = s.key AND f.repo IN (SELECT readable()))
        ORDER BY s.key, s.inputs
        ON CONFLICT DO NOTHING;
END
$$;

-- Makes an upload visible: all of it or nothing.
CREATE FUNCTION finish_publication(upload bigint, of_commit text) RETURNS TABLE (generation bigint, files int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload); target repos; own_group int := own_trust();
BEGIN
    PERFORM check_publisher(own.name);
    IF of_commit !~ '^[0-9a-f]{40}([0-9a-f]{24})?$' THEN
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

-- Ends an upload that has nothing to publish.
CREATE FUNCTION abandon_publication(upload bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
DECLARE own uploads := own_upload(upload);
BEGIN
    DELETE FROM uploads u WHERE u.id = own.id;
END
$$;

CREATE FUNCTION unpublish(repo_name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
BEGIN
    PERFORM check_publisher(repo_name);
    DELETE FROM repos r WHERE r.name = repo_name;
    RETURN FOUND;
END
$$;

-- The repositories that the caller can read.
CREATE FUNCTION repositories(pattern text)
RETURNS TABLE (name text, commit text, generation bigint, published_at text, files int, bytes bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, r.commit, r.generation, to_char(r.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), r.files, r.bytes
    FROM repos r WHERE r.id IN (SELECT readable()) AND r.name LIKE as_like(pattern) ORDER BY r.name
$$;

-- The files of repositories.
CREATE FUNCTION files_of(names text[]) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, f.path, f.key, t.bytes FROM repos r JOIN files f ON f.repo = r.id JOIN texts t ON t.key = f.key
    WHERE r.name = ANY (names) AND r.id IN (SELECT readable())
$$;

-- The files whose text contains one of the literals, in any case.
CREATE FUNCTION files_with(names text[], literals text[], most int) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, f.path, f.key, t.bytes FROM texts t JOIN files f ON f.key = t.key JOIN repos r ON r.id = f.repo
    WHERE r.name = ANY (names) AND r.id IN (SELECT readable()) AND t.content ILIKE ANY (
        SELECT '%' || replace(replace(replace(l, '\', '\\'), '%', '\%'), '_', '\_') || '%' FROM unnest(literals) l
    )
    LIMIT most
$$;

-- The files that define one of the names, by hash.
CREATE FUNCTION files_defining(names text[], of_terms int[], most int) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, f.path, f.key, t.bytes
    FROM derived d JOIN files f ON f.key = d.key AND f.inputs = d.inputs
    JOIN repos r ON r.id = f.repo AND r.trust = d.trust JOIN texts t ON t.key = f.key
    WHERE d.terms && of_terms AND r.name = ANY (names) AND r.id IN (SELECT readable()) LIMIT most
$$;

-- The texts of keys, as far as the caller can read a file with that text.
CREATE FUNCTION texts_of(keys bytea[]) RETURNS TABLE (key bytea, content text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT t.key, t.content FROM texts t
    WHERE t.key = ANY (keys) AND EXISTS (SELECT FROM files f WHERE f.key = t.key AND f.repo IN (SELECT readable()))
$$;

REVOKE ALL ON ALL TABLES IN SCHEMA ixmcp FROM PUBLIC;
REVOKE ALL ON FUNCTION as_like, is_member, readable, check_publisher, own_trust, own_upload, grant_repos, revoke_repos, sweep FROM PUBLIC;
REVOKE ALL ON FUNCTION protocol, begin_publication, published, missing, send_texts, stage_files, stage_gone, underived, send_terms,
    finish_publication, abandon_publication, unpublish, repositories, files_of, files_with, files_defining, texts_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION protocol, begin_publication, published, missing, send_texts, stage_files, stage_gone, underived, send_terms,
    finish_publication, abandon_publication, unpublish, repositories, files_of, files_with, files_defining, texts_of TO ixmcp_user;
GRANT USAGE ON SCHEMA ixmcp TO ixmcp_user;
