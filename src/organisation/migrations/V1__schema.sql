-- The schema `ixmcp` of an organisation's server.
--
-- Objects belong to the role `ixmcp_owner`, which cannot log in. Other roles cannot read a table. They may execute the functions under
-- "For all roles", which run as the owner with a fixed search path and decide what the caller may see.
--
-- Access: a role reads the repositories that it was granted, directly or as a member of a granted role that has its rights. Texts are
-- stored once by their SHA-256, which the server computes. No function reports whether a text exists unless the caller can read it
-- elsewhere.
--
-- Who created a role is a member of it without its rights (findings/postgresql-creator-of-a-role.sh), and so is a member that does not
-- inherit. `USAGE` says which roles' rights a caller has. A caller may have taken a role: then that role's rights count, as they do for
-- all that PostgreSQL checks itself. `session_user` remains the owner of an upload.
--
-- No answer depends on the collation of the database. ILIKE and the trigrams of pg_trgm fold letters as it does: in Turkish, `I` is not
-- `i` (findings/postgresql-ilike-in-turkish.sh). Literals of a search are ASCII letters in any case. So the case of ASCII letters is
-- folded first, which `lower` does alone with the collation "C", for texts as for literals. The collation is that of the column, because
-- postgres_fdw sends no expression with a collation of its own.
--
-- What a caller may not read leaves no trace in the cost of its calls either: neither in their time nor in what PostgreSQL counts for
-- every role (pages, in `EXPLAIN (ANALYZE, BUFFERS)`; rows, in `pg_stat_xact_all_tables`). No function for all roles reads a row of a
-- file that the caller may not read, or compares its text:
--
-- - Whether a repository has a text is looked up by both. A lookup by the text alone would read rows of all repositories that have it.
-- - A publisher claims what it need not send: later steps ask for claims only.
-- - Names and texts are compared after the rows that the caller may read were chosen. `OFFSET 0` keeps that order.
-- - Files, and what belongs to them, are looked up one readable repository after the other (`LATERAL`), and by indexes: neither a join
--   by the text nor a scan of a table comes first.
-- - Indexes of what texts contain are used for roles that read everything. For all others only their own texts are looked at.
--
-- A publication is an upload: it claims or sends texts, stages files, and ends in one transaction that makes all of it visible.
--
-- Each index names the query it serves. Indexes of the type GIN keep a short list of what is not merged yet: a long one takes 4 MB of
-- disk in each of the partitions, for good.

-- Tables -------------------------------------------------------------------------------------------------------------

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

-- What was granted: names of repositories, in which `*` matches any text. It holds for repositories that are published later, too.
CREATE TABLE rules (
    role        name NOT NULL,
    pattern     text NOT NULL,
    may_publish boolean NOT NULL,
    PRIMARY KEY (role, pattern)
);

CREATE TABLE repos (
    id           int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name         text NOT NULL UNIQUE,
    commit       text,                        -- `ID-dirty` with changes that were not committed
    generation   bigint NOT NULL DEFAULT 0,   -- publications so far
    trust        int REFERENCES trust_groups, -- of the last publisher
    published_at timestamptz,
    published_by name,
    files        int NOT NULL DEFAULT 0,
    bytes        bigint NOT NULL DEFAULT 0
);

-- The rules applied to the repositories that exist, so that reads match no patterns.
CREATE TABLE granted (
    role name NOT NULL,
    repo int NOT NULL REFERENCES repos ON DELETE CASCADE,
    PRIMARY KEY (role, repo)
);
-- Removing a repository.
CREATE INDEX granted_by_repo ON granted (repo);

-- The texts that there are. Foreign keys refer to this table, which lies on one server; what the texts contain is in `contents`.
CREATE TABLE texts (
    key   bytea PRIMARY KEY,                   -- SHA-256 of the text in UTF-8
    bytes int NOT NULL,
    seen  timestamptz NOT NULL DEFAULT now()   -- last sent: a sweep keeps what an upload may need
);

-- The contents of texts. Each partition may be a foreign table on another server (packaging/organisation/second-server.sql). Neither
-- foreign keys nor unique indexes can span these, so each partition has its own, and a content that is there already stays as it is: its
-- key says that it is the same.
CREATE TABLE contents (
    key     bytea NOT NULL,                   -- as in `texts`
    content text COLLATE "C" NOT NULL
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
        EXECUTE format(
            'CREATE INDEX contents_%s_by_trigram ON contents_%s USING gin (lower(content) gin_trgm_ops) WITH (gin_pending_list_limit = 256)',
            part, part
        );
    END LOOP;
END
$$;

-- The files of repositories as they are published.
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
-- Whether a repository has a text; the files with a text; texts without a file.
CREATE INDEX files_by_key ON files (key, repo);

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
CREATE INDEX derived_by_term ON derived USING gin (terms) WITH (gin_pending_list_limit = 256);

-- Publications that are not finished.
CREATE TABLE uploads (
    id         bigint PRIMARY KEY,            -- random: it says nothing about how often others publish
    role       name NOT NULL,
    name       text NOT NULL,
    generation bigint NOT NULL,               -- of the repository when it began
    started    timestamptz NOT NULL DEFAULT now()
);

-- Texts that an upload may name: it sent them in full, or its role can read them.
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

REVOKE ALL ON ALL TABLES IN SCHEMA ixmcp FROM PUBLIC;

-- For the functions below --------------------------------------------------------------------------------------------

-- A pattern of names as LIKE has it.
CREATE FUNCTION as_like(pattern text) RETURNS text LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT replace(replace(replace(replace(pattern, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')
$$;

-- The role that the caller acts as: the one that it took, or its own.
CREATE FUNCTION caller() RETURNS name LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT coalesce(nullif(current_setting('role'), 'none')::name, session_user)
$$;

-- Whether the caller has the rights of a role.
CREATE FUNCTION is_member(role name) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role AND pg_has_role((SELECT caller()), r.oid, 'USAGE'))
$$;

-- The repositories that the caller may read.
CREATE FUNCTION readable() RETURNS SETOF int LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.id FROM repos r WHERE is_member('ixmcp_owner')
    UNION
    SELECT g.repo FROM granted g
    WHERE g.role IN (SELECT r.rolname FROM pg_roles r WHERE pg_has_role((SELECT caller()), r.oid, 'USAGE'))
$$;

-- Those of them with one of the names.
CREATE FUNCTION readable_named(names text[]) RETURNS TABLE (id int, name text, trust int) LANGUAGE sql STABLE ROWS 1
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.id, r.name, r.trust FROM (SELECT r.* FROM repos r WHERE r.id IN (SELECT readable()) OFFSET 0) r
    WHERE r.name = ANY (names)
$$;

-- The same with names that match one of the patterns.
CREATE FUNCTION readable_like(patterns text[]) RETURNS TABLE (id int, name text, trust int) LANGUAGE sql STABLE ROWS 1
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.id, r.name, r.trust FROM (SELECT r.* FROM repos r WHERE r.id IN (SELECT readable()) OFFSET 0) r
    WHERE r.name LIKE ANY (ARRAY(SELECT as_like(p) FROM unnest(patterns) p))
$$;

-- The lines of a text as LIKE has literals, in lowercase, the longest first: it excludes most.
CREATE FUNCTION likes_of(need text) RETURNS text[] LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT array_agg('%' || replace(replace(replace(l, '\', '\\'), '%', '\%'), '_', '\_') || '%' ORDER BY length(l) DESC, l)
    FROM unnest(string_to_array(lower(need COLLATE "C"), chr(10))) l WHERE l <> ''
$$;

-- Whether the caller may read all that is published, now and later.
CREATE FUNCTION reads_everything() RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT is_member('ixmcp_owner') OR EXISTS (SELECT FROM rules u WHERE u.pattern = '*' AND is_member(u.role))
$$;

-- Whether a repository has a text. Not inlined and without a list of repositories: the plan is one lookup by both columns.
CREATE FUNCTION has_text(of_repo int, of_key bytea) RETURNS boolean LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM files f WHERE f.key = of_key AND f.repo = of_repo);
END
$$;

-- The error unless the caller may publish the repository of that name.
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

-- The trust group of the caller: its own, or that of a role whose rights it has.
CREATE FUNCTION own_trust() RETURNS int LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT m.trust FROM members m WHERE is_member(m.role) ORDER BY (m.role = (SELECT caller())) DESC, m.role LIMIT 1
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

REVOKE ALL ON FUNCTION as_like, caller, is_member, readable, readable_named, readable_like, likes_of, reads_everything, has_text,
    check_publisher, own_trust, own_upload, opened, unpacked FROM PUBLIC;

-- For the owner ------------------------------------------------------------------------------------------------------

-- Lets a role read repositories, or publish them. Its first grant puts it in a trust group of its own unless one is named.
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

REVOKE ALL ON FUNCTION grant_repos, revoke_repos, sweep FROM PUBLIC;

-- For all roles ------------------------------------------------------------------------------------------------------

-- Grows when the functions below change.
CREATE FUNCTION protocol() RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER
SET search_path = pg_catalog, ixmcp, pg_temp AS 'SELECT 6';

-- Begins an upload, and returns what is published now. The id says nothing about how often others publish.
CREATE FUNCTION begin_publication(repo_name text) RETURNS TABLE (upload bigint, commit text, generation bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE known repos;
BEGIN
    PERFORM check_publisher(repo_name);
    SELECT r.* INTO known FROM repos r WHERE r.name = repo_name;
    RETURN QUERY
        WITH begun AS (
            INSERT INTO uploads (id, role, name, generation)
                VALUES ((random() * 9007199254740991)::bigint, session_user, repo_name, coalesce(known.generation, 0))
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

-- Those of the keys that the caller must send: all but those of texts that it sent already, or can read in the repository itself, its
-- branches, or the repositories that were published last, sixteen in all.
CREATE FUNCTION missing(upload bigint, keys bytea[]) RETURNS SETOF bytea
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

-- Stores the texts of a message, and claims them.
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

-- Stages files that are new or differ.
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

-- Stages the removal of files.
CREATE FUNCTION stage_gone(upload bigint, paths text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
#variable_conflict use_column
DECLARE own uploads := own_upload(upload);
BEGIN
    INSERT INTO staged (upload, path) SELECT own.id, p FROM unnest(paths) p ON CONFLICT (upload, path) DO UPDATE SET key = NULL;
END
$$;

-- Those of the staged files for whose text the trust group of the caller has no terms yet. Each text counts once. Of a text that the
-- caller did not claim it learns nothing: CASE keeps the order.
CREATE FUNCTION underived(upload bigint, of_extractor text) RETURNS TABLE (path text)
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
CREATE FUNCTION send_terms(upload bigint, of_extractor text, paths text[], terms text[]) RETURNS void
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
CREATE FUNCTION finish_publication(upload bigint, of_commit text) RETURNS TABLE (generation bigint, files int)
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

-- Ends an upload that has nothing to publish.
CREATE FUNCTION abandon_publication(upload bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
DECLARE own uploads := own_upload(upload);
BEGIN
    DELETE FROM uploads u WHERE u.id = own.id;
END
$$;

-- Removes a repository. Whether there was one.
CREATE FUNCTION unpublish(repo_name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
BEGIN
    PERFORM check_publisher(repo_name);
    DELETE FROM repos r WHERE r.name = repo_name;
    RETURN FOUND;
END
$$;

-- The repositories of that name that the caller can read, in the order of their bytes.
CREATE FUNCTION repositories(pattern text)
RETURNS TABLE (name text, commit text, generation bigint, published_at text, files int, bytes bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, r.commit, r.generation, to_char(r.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), r.files, r.bytes
    FROM (SELECT r.* FROM repos r WHERE r.id IN (SELECT readable()) OFFSET 0) r
    WHERE r.name LIKE as_like(pattern) ORDER BY r.name COLLATE "C"
$$;

-- The files of repositories.
CREATE FUNCTION files_of(names text[]) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp SET enable_seqscan = off AS $$
    SELECT r.name, f.path, f.key, t.bytes FROM readable_named(names) r
    CROSS JOIN LATERAL (SELECT f.path, f.key FROM files f WHERE f.repo = r.id OFFSET 0) f
    CROSS JOIN LATERAL (SELECT t.bytes FROM texts t WHERE t.key = f.key OFFSET 0) t
$$;

-- The files whose text has one of the needs. A need is a text of lines: literals of which a text contains all, in any case of ASCII
-- letters. Names are patterns. The texts are read where they lie. A file that has several needs may be listed as often, and each need
-- has its own limit. Sequential scans stay off: to the planner a long text costs as little as a short one.
CREATE FUNCTION files_with(patterns text[], needs text[], most int) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    need text; likes text[]; longest text; next text; others text[]; found bytea[];
    names text[] := ARRAY(SELECT as_like(p) FROM unnest(patterns) p);
    everything boolean := reads_everything();
    own bytea[] := CASE WHEN NOT everything THEN
        ARRAY(
            SELECT DISTINCT f.key FROM readable_like(patterns) r
            CROSS JOIN LATERAL (SELECT f.key FROM files f WHERE f.repo = r.id OFFSET 0) f
        ) END;
BEGIN
    FOREACH need IN ARRAY coalesce(needs, '{}') LOOP
        likes := likes_of(need);
        -- An index is used for two: neither may be rare alone.
        longest := likes[1];
        next := coalesce(likes[2], longest);
        others := likes[2:];
        IF everything THEN
            RETURN QUERY SELECT r.name, f.path, f.key, t.bytes
                FROM contents c JOIN files f ON f.key = c.key JOIN repos r ON r.id = f.repo JOIN texts t ON t.key = c.key
                WHERE r.name LIKE ANY (names)
                    AND lower(c.content) LIKE longest AND lower(c.content) LIKE next AND lower(c.content) LIKE ALL (others) LIMIT most;
        ELSE
            found := ARRAY(
                SELECT c.key FROM (SELECT c.key, c.content FROM contents c WHERE c.key = ANY (own) OFFSET 0) c
                WHERE lower(c.content) LIKE longest AND lower(c.content) LIKE ALL (others)
            );
            RETURN QUERY SELECT r.name, f.path, f.key, t.bytes
                FROM readable_like(patterns) r
                CROSS JOIN LATERAL (SELECT f.path, f.key FROM files f WHERE f.repo = r.id AND f.key = ANY (found) OFFSET 0) f
                CROSS JOIN LATERAL (SELECT t.bytes FROM texts t WHERE t.key = f.key OFFSET 0) t
                LIMIT most;
        END IF;
    END LOOP;
END
$$;

-- The files that define one of the names, by hash, each once. Names of repositories are patterns.
CREATE FUNCTION files_defining(patterns text[], of_terms int[], most int) RETURNS TABLE (repo text, path text, key bytea, bytes int)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE names text[] := ARRAY(SELECT as_like(p) FROM unnest(patterns) p);
BEGIN
    IF reads_everything() THEN
        PERFORM set_config('enable_seqscan', 'on', true);
        RETURN QUERY SELECT DISTINCT r.name, f.path, f.key, t.bytes
            FROM derived d JOIN files f ON f.key = d.key AND f.inputs = d.inputs
            JOIN repos r ON r.id = f.repo AND r.trust = d.trust JOIN texts t ON t.key = f.key
            WHERE d.terms && of_terms AND r.name LIKE ANY (names) LIMIT most;
        RETURN;
    END IF;
    RETURN QUERY SELECT DISTINCT own.name, own.path, own.key, t.bytes
        FROM (
            SELECT r.name, f.path, f.key, d.terms FROM readable_like(patterns) r
            CROSS JOIN LATERAL (SELECT f.path, f.key, f.inputs FROM files f WHERE f.repo = r.id OFFSET 0) f
            CROSS JOIN LATERAL (
                SELECT d.terms FROM derived d WHERE d.key = f.key AND d.inputs = f.inputs AND d.trust = r.trust OFFSET 0
            ) d OFFSET 0
        ) own CROSS JOIN LATERAL (SELECT t.bytes FROM texts t WHERE t.key = own.key OFFSET 0) t
        WHERE own.terms && of_terms LIMIT most;
END
$$;

-- The texts of keys, as far as a file of that repository, or of any that the caller can read, has them.
CREATE FUNCTION texts_of(keys bytea[], of_repo text DEFAULT NULL) RETURNS TABLE (key bytea, content text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    within int[] := CASE WHEN of_repo IS NULL THEN ARRAY(SELECT readable())
        ELSE ARRAY(SELECT r.id FROM readable_named(ARRAY[of_repo]) r) END;
    own bytea[] := ARRAY(SELECT DISTINCT k FROM unnest(keys) k WHERE EXISTS (SELECT FROM unnest(within) n WHERE has_text(n, k)));
BEGIN
    RETURN QUERY SELECT c.key, c.content FROM contents c WHERE c.key = ANY (own);
END
$$;

REVOKE ALL ON FUNCTION protocol, begin_publication, published, missing, send_texts, stage_files, stage_gone, underived, send_terms, finish_publication,
    abandon_publication, unpublish, repositories, files_of, files_with, files_defining, texts_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION protocol, begin_publication, published, missing, send_texts, stage_files, stage_gone, underived, send_terms, finish_publication,
    abandon_publication, unpublish, repositories, files_of, files_with, files_defining, texts_of TO ixmcp_user;
GRANT USAGE ON SCHEMA ixmcp TO ixmcp_user;
