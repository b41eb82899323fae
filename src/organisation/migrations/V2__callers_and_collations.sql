-- What a caller may read follows from the rights that PostgreSQL gives it, and no answer depends on the collation of the database.
--
-- Who created a role is a member of it without its rights (findings/postgresql-creator-of-a-role.sh), and so is a member that does not
-- inherit. `USAGE` says which
-- roles' rights a caller has. A caller may have taken a role: then that role's rights count, as they do for all that PostgreSQL checks
-- itself. `session_user` remains the owner of an upload.
--
-- ILIKE and the trigrams of pg_trgm fold letters as the collation of the database does: in Turkish, `I` is not `i`
-- (findings/postgresql-ilike-in-turkish.sh). Literals of a search
-- are ASCII letters in any case. So the case of ASCII letters is folded first, which `lower` does alone with the collation "C", for texts
-- as for literals. The collation is that of the column, because postgres_fdw sends no expression with a collation of its own.

-- The role that the caller acts as: the one that it took, or its own.
CREATE FUNCTION caller() RETURNS name LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT coalesce(nullif(current_setting('role'), 'none')::name, session_user)
$$;
REVOKE ALL ON FUNCTION caller FROM PUBLIC;

-- Whether the caller has the rights of a role.
CREATE OR REPLACE FUNCTION is_member(role name) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role AND pg_has_role((SELECT caller()), r.oid, 'USAGE'))
$$;

-- The repositories that the caller may read.
CREATE OR REPLACE FUNCTION readable() RETURNS SETOF int LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.id FROM repos r WHERE is_member('ixmcp_owner')
    UNION
    SELECT g.repo FROM granted g
    WHERE g.role IN (SELECT r.rolname FROM pg_roles r WHERE pg_has_role((SELECT caller()), r.oid, 'USAGE'))
$$;

-- The trust group of the caller: its own, or that of a role whose rights it has.
CREATE OR REPLACE FUNCTION own_trust() RETURNS int LANGUAGE sql STABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT m.trust FROM members m WHERE is_member(m.role) ORDER BY (m.role = (SELECT caller())) DESC, m.role LIMIT 1
$$;

DO $$
DECLARE part int;
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format('DROP INDEX IF EXISTS contents_%s_by_trigram', part);
    END LOOP;
    ALTER TABLE contents ALTER content TYPE text COLLATE "C";
    -- Those of foreign tables are on their servers.
    FOR part IN
        SELECT p FROM generate_series(0, 15) p JOIN pg_class c ON c.oid = to_regclass(format('contents_%s', p)) AND c.relkind = 'r'
    LOOP
        EXECUTE format(
            'CREATE INDEX contents_%s_by_trigram ON contents_%s USING gin (lower(content) gin_trgm_ops) WITH (gin_pending_list_limit = 256)',
            part, part
        );
    END LOOP;
END
$$;

-- The lines of a text as LIKE has literals, in lowercase, the longest first: it excludes most.
CREATE OR REPLACE FUNCTION likes_of(need text) RETURNS text[] LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT array_agg('%' || replace(replace(replace(l, '\', '\\'), '%', '\%'), '_', '\_') || '%' ORDER BY length(l) DESC, l)
    FROM unnest(string_to_array(lower(need COLLATE "C"), chr(10))) l WHERE l <> ''
$$;

-- The files whose text has one of the needs. A need is a text of lines: literals of which a text contains all, in any case of ASCII
-- letters. Names are patterns. The texts are read where they lie. A file that has several needs may be listed as often, and each need
-- has its own limit. Sequential scans stay off: to the planner a long text costs as little as a short one.
CREATE OR REPLACE FUNCTION files_with(patterns text[], needs text[], most int) RETURNS TABLE (repo text, path text, key bytea, bytes int)
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

-- The repositories of that name that the caller can read, in the order of their bytes.
CREATE OR REPLACE FUNCTION repositories(pattern text)
RETURNS TABLE (name text, commit text, generation bigint, published_at text, files int, bytes bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ixmcp, pg_temp AS $$
    SELECT r.name, r.commit, r.generation, to_char(r.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), r.files, r.bytes
    FROM (SELECT r.* FROM repos r WHERE r.id IN (SELECT readable()) OFFSET 0) r
    WHERE r.name LIKE as_like(pattern) ORDER BY r.name COLLATE "C"
$$;

CREATE OR REPLACE FUNCTION protocol() RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER
SET search_path = pg_catalog, ixmcp, pg_temp AS 'SELECT 6';
