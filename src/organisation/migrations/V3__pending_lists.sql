-- Each index of trigrams keeps a short list of what is not merged yet. A long one takes 4 MB of disk in each of the sixteen, for good.
DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format('ALTER INDEX IF EXISTS contents_%s_by_trigram SET (gin_pending_list_limit = 256)', part);
    END LOOP;
END
$$;
