-- Records written before there were counters get theirs; they have no seal, and `uam audit verify` says so.
UPDATE public.audit a SET n_type = r.n_type, n_action = r.n_action, n_actor = r.n_actor,
  n_actor_action = r.n_actor_action, n_resource = r.n_resource, n_subject = r.n_subject
FROM (
  SELECT id,
    row_number() OVER (PARTITION BY resource_type ORDER BY id) AS n_type,
    row_number() OVER (PARTITION BY action, resource_type ORDER BY id) AS n_action,
    row_number() OVER (PARTITION BY actor, resource_type ORDER BY id) AS n_actor,
    row_number() OVER (PARTITION BY actor, action, resource_type ORDER BY id) AS n_actor_action,
    row_number() OVER (PARTITION BY resource_type, resource_id ORDER BY id) AS n_resource,
    CASE WHEN subject_id IS NULL THEN 0 ELSE row_number() OVER (PARTITION BY subject_id ORDER BY id) END AS n_subject
  FROM public.audit
) r WHERE r.id = a.id;
--> statement-breakpoint
INSERT INTO public.audit_head (one, id) VALUES (1, 0) ON CONFLICT DO NOTHING;
--> statement-breakpoint
UPDATE public.audit_head SET created_at = a.created_at FROM (SELECT max(created_at) AS created_at FROM public.audit) a
WHERE a.created_at IS NOT NULL;
--> statement-breakpoint
-- The newest record of a series (see audit_page) whose id is at most p_id. Row comparisons, because with equalities the
-- planner may walk the primary key instead, through the whole log where the series is empty.
CREATE FUNCTION public.audit_at_most(p_series text, p_a text, p_b text, p_type text, p_id bigint, OUT id bigint, OUT n bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE r record;
BEGIN
  CASE p_series
  WHEN 'all' THEN
    SELECT t.id INTO r FROM public.audit t WHERE t.id <= p_id ORDER BY t.id DESC LIMIT 1;
    id := r.id; n := r.id;
  WHEN 'type' THEN
    SELECT t.resource_type AS x, t.id, t.n_type AS n INTO r FROM public.audit t
    WHERE (t.resource_type, t.id) <= (p_type, p_id) ORDER BY t.resource_type DESC, t.id DESC LIMIT 1;
    IF r.x = p_type THEN id := r.id; n := r.n; END IF;
  WHEN 'action' THEN
    SELECT t.action AS x, t.resource_type AS y, t.id, t.n_action AS n INTO r FROM public.audit t
    WHERE (t.action, t.resource_type, t.id) <= (p_a, p_type, p_id)
    ORDER BY t.action DESC, t.resource_type DESC, t.id DESC LIMIT 1;
    IF r.x = p_a AND r.y = p_type THEN id := r.id; n := r.n; END IF;
  WHEN 'actor' THEN
    SELECT t.actor AS x, t.resource_type AS y, t.id, t.n_actor AS n INTO r FROM public.audit t
    WHERE (t.actor, t.resource_type, t.id) <= (p_a, p_type, p_id)
    ORDER BY t.actor DESC, t.resource_type DESC, t.id DESC LIMIT 1;
    IF r.x = p_a AND r.y = p_type THEN id := r.id; n := r.n; END IF;
  WHEN 'actor_action' THEN
    SELECT t.actor AS x, t.action AS y, t.resource_type AS z, t.id, t.n_actor_action AS n INTO r FROM public.audit t
    WHERE (t.actor, t.action, t.resource_type, t.id) <= (p_a, p_b, p_type, p_id)
    ORDER BY t.actor DESC, t.action DESC, t.resource_type DESC, t.id DESC LIMIT 1;
    IF r.x = p_a AND r.y = p_b AND r.z = p_type THEN id := r.id; n := r.n; END IF;
  WHEN 'resource' THEN
    SELECT t.resource_type AS x, t.resource_id AS y, t.id, t.n_resource AS n INTO r FROM public.audit t
    WHERE (t.resource_type, t.resource_id, t.id) <= (p_type, p_a, p_id)
    ORDER BY t.resource_type DESC, t.resource_id DESC, t.id DESC LIMIT 1;
    IF r.x = p_type AND r.y = p_a THEN id := r.id; n := r.n; END IF;
  WHEN 'subject' THEN
    SELECT t.subject_id AS x, t.id, t.n_subject AS n INTO r FROM public.audit t
    WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) <= (p_a::bigint, p_id)
    ORDER BY t.subject_id DESC, t.id DESC LIMIT 1;
    IF r.x = p_a::bigint THEN id := r.id; n := r.n; END IF;
  END CASE;
END $$;
--> statement-breakpoint
-- The oldest record of a series whose id is at least p_id.
CREATE FUNCTION public.audit_at_least(p_series text, p_a text, p_b text, p_type text, p_id bigint, OUT id bigint, OUT n bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE r record;
BEGIN
  CASE p_series
  WHEN 'all' THEN
    SELECT t.id INTO r FROM public.audit t WHERE t.id >= p_id ORDER BY t.id LIMIT 1;
    id := r.id; n := r.id;
  WHEN 'type' THEN
    SELECT t.resource_type AS x, t.id, t.n_type AS n INTO r FROM public.audit t
    WHERE (t.resource_type, t.id) >= (p_type, p_id) ORDER BY t.resource_type, t.id LIMIT 1;
    IF r.x = p_type THEN id := r.id; n := r.n; END IF;
  WHEN 'action' THEN
    SELECT t.action AS x, t.resource_type AS y, t.id, t.n_action AS n INTO r FROM public.audit t
    WHERE (t.action, t.resource_type, t.id) >= (p_a, p_type, p_id)
    ORDER BY t.action, t.resource_type, t.id LIMIT 1;
    IF r.x = p_a AND r.y = p_type THEN id := r.id; n := r.n; END IF;
  WHEN 'actor' THEN
    SELECT t.actor AS x, t.resource_type AS y, t.id, t.n_actor AS n INTO r FROM public.audit t
    WHERE (t.actor, t.resource_type, t.id) >= (p_a, p_type, p_id)
    ORDER BY t.actor, t.resource_type, t.id LIMIT 1;
    IF r.x = p_a AND r.y = p_type THEN id := r.id; n := r.n; END IF;
  WHEN 'actor_action' THEN
    SELECT t.actor AS x, t.action AS y, t.resource_type AS z, t.id, t.n_actor_action AS n INTO r FROM public.audit t
    WHERE (t.actor, t.action, t.resource_type, t.id) >= (p_a, p_b, p_type, p_id)
    ORDER BY t.actor, t.action, t.resource_type, t.id LIMIT 1;
    IF r.x = p_a AND r.y = p_b AND r.z = p_type THEN id := r.id; n := r.n; END IF;
  WHEN 'resource' THEN
    SELECT t.resource_type AS x, t.resource_id AS y, t.id, t.n_resource AS n INTO r FROM public.audit t
    WHERE (t.resource_type, t.resource_id, t.id) >= (p_type, p_a, p_id)
    ORDER BY t.resource_type, t.resource_id, t.id LIMIT 1;
    IF r.x = p_type AND r.y = p_a THEN id := r.id; n := r.n; END IF;
  WHEN 'subject' THEN
    SELECT t.subject_id AS x, t.id, t.n_subject AS n INTO r FROM public.audit t
    WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) >= (p_a::bigint, p_id)
    ORDER BY t.subject_id, t.id LIMIT 1;
    IF r.x = p_a::bigint THEN id := r.id; n := r.n; END IF;
  END CASE;
END $$;
--> statement-breakpoint
-- The ids of the newest p_limit records of a series with p_low <= id <= p_high.
CREATE FUNCTION public.audit_ids(p_series text, p_a text, p_b text, p_type text, p_low bigint, p_high bigint, p_limit bigint)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'all' THEN RETURN QUERY
    SELECT t.id FROM public.audit t WHERE t.id BETWEEN p_low AND p_high ORDER BY t.id DESC LIMIT p_limit;
  WHEN 'type' THEN RETURN QUERY
    SELECT s.id FROM (SELECT t.resource_type AS x, t.id FROM public.audit t
      WHERE (t.resource_type, t.id) <= (p_type, p_high) ORDER BY t.resource_type DESC, t.id DESC LIMIT p_limit) s
    WHERE s.x = p_type AND s.id >= p_low;
  WHEN 'action' THEN RETURN QUERY
    SELECT s.id FROM (SELECT t.action AS x, t.resource_type AS y, t.id FROM public.audit t
      WHERE (t.action, t.resource_type, t.id) <= (p_a, p_type, p_high)
      ORDER BY t.action DESC, t.resource_type DESC, t.id DESC LIMIT p_limit) s
    WHERE s.x = p_a AND s.y = p_type AND s.id >= p_low;
  WHEN 'actor' THEN RETURN QUERY
    SELECT s.id FROM (SELECT t.actor AS x, t.resource_type AS y, t.id FROM public.audit t
      WHERE (t.actor, t.resource_type, t.id) <= (p_a, p_type, p_high)
      ORDER BY t.actor DESC, t.resource_type DESC, t.id DESC LIMIT p_limit) s
    WHERE s.x = p_a AND s.y = p_type AND s.id >= p_low;
  WHEN 'actor_action' THEN RETURN QUERY
    SELECT s.id FROM (SELECT t.actor AS x, t.action AS y, t.resource_type AS z, t.id FROM public.audit t
      WHERE (t.actor, t.action, t.resource_type, t.id) <= (p_a, p_b, p_type, p_high)
      ORDER BY t.actor DESC, t.action DESC, t.resource_type DESC, t.id DESC LIMIT p_limit) s
    WHERE s.x = p_a AND s.y = p_b AND s.z = p_type AND s.id >= p_low;
  WHEN 'resource' THEN RETURN QUERY
    SELECT s.id FROM (SELECT t.resource_type AS x, t.resource_id AS y, t.id FROM public.audit t
      WHERE (t.resource_type, t.resource_id, t.id) <= (p_type, p_a, p_high)
      ORDER BY t.resource_type DESC, t.resource_id DESC, t.id DESC LIMIT p_limit) s
    WHERE s.x = p_type AND s.y = p_a AND s.id >= p_low;
  WHEN 'subject' THEN RETURN QUERY
    SELECT s.id FROM (SELECT t.subject_id AS x, t.id FROM public.audit t
      WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) <= (p_a::bigint, p_high)
      ORDER BY t.subject_id DESC, t.id DESC LIMIT p_limit) s
    WHERE s.x = p_a::bigint AND s.id >= p_low;
  END CASE;
END $$;
--> statement-breakpoint
-- How many records the series (p_series, p_a, p_b, each of p_types) have from p_low to p_high, and the ids of one page of
-- them, newest first. The counters in the records make the cost of any page that of some index look-ups.
CREATE FUNCTION public.audit_page(p_series text, p_a text, p_b text, p_types text[], p_low bigint, p_high bigint,
  p_offset bigint, p_limit bigint, OUT total bigint, OUT ids bigint[])
LANGUAGE plpgsql STABLE
-- Each look-up has one good plan, the walk along its index; making a plan costs ten times as much as using it.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  kinds text[] := '{}'; firsts bigint[] := '{}'; kind text;
  oldest record; newest record; found record;
  wanted bigint; low bigint; low_rank bigint; high bigint; high_rank bigint;
  guess bigint; reached bigint; guess_rank bigint; steps int := 0;
  near constant bigint := 200;
BEGIN
  total := 0; ids := '{}';
  FOREACH kind IN ARRAY p_types LOOP
    SELECT * INTO oldest FROM public.audit_at_least(p_series, p_a, p_b, kind, p_low);
    CONTINUE WHEN oldest.id IS NULL OR oldest.id > p_high;
    SELECT * INTO newest FROM public.audit_at_most(p_series, p_a, p_b, kind, p_high);
    CONTINUE WHEN newest.id IS NULL OR newest.id < oldest.id;
    kinds := kinds || kind; firsts := firsts || oldest.n;
    total := total + newest.n - oldest.n + 1;
    low := least(low, oldest.id); high := greatest(high, newest.id);
  END LOOP;
  IF p_offset >= total THEN RETURN; END IF;
  -- The page's newest record is the wanted-th oldest. Search for an id at which the rank is that, or a little above.
  wanted := total - p_offset;
  low := low - 1; low_rank := 0; high_rank := total;
  WHILE high_rank - wanted > near AND high - low > 1 LOOP
    steps := steps + 1;
    -- Interpolation finds the place in evenly spread records at once; halving bounds the search in all others.
    guess := CASE WHEN steps % 3 = 0 THEN (low + high) / 2 ELSE
      low + ceil((wanted + near / 2 - low_rank)::float8 * (high - low) / (high_rank - low_rank))::bigint END;
    guess := least(greatest(guess, low + 1), high - 1);
    guess_rank := 0; reached := low;
    FOR i IN 1 .. cardinality(kinds) LOOP
      SELECT * INTO found FROM public.audit_at_most(p_series, p_a, p_b, kinds[i], guess);
      IF found.n >= firsts[i] AND found.id >= p_low THEN
        guess_rank := guess_rank + found.n - firsts[i] + 1;
        reached := greatest(reached, found.id);
      END IF;
    END LOOP;
    IF guess_rank >= wanted THEN high := reached; high_rank := guess_rank;
    ELSE low := guess; low_rank := guess_rank; END IF;
  END LOOP;
  SELECT array_agg(page.id ORDER BY page.id DESC) INTO ids FROM (
    SELECT s.id FROM unnest(kinds) k, public.audit_ids(p_series, p_a, p_b, k, p_low, high, p_limit + high_rank - wanted) s(id)
    ORDER BY s.id DESC LIMIT p_limit OFFSET high_rank - wanted
  ) page;
END $$;
--> statement-breakpoint
-- The same for one resource by an actor or with an action: its records are few enough to be counted one by one. The
-- expressions and settings keep to a walk along the index audit_by_resource, which has all columns that are asked for.
CREATE FUNCTION public.audit_resource_page(p_resource_id text, p_actor text, p_action text, p_types text[], p_low bigint,
  p_high bigint, p_offset bigint, p_limit bigint, OUT total bigint, OUT ids bigint[])
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  WITH found AS MATERIALIZED (
    SELECT t.id FROM public.audit t
    WHERE t.resource_type = ANY (p_types) AND t.resource_id = p_resource_id AND t.id + 0 BETWEEN p_low AND p_high
      AND (p_actor IS NULL OR t.actor || '' = p_actor) AND (p_action IS NULL OR t.action || '' = p_action)
  )
  SELECT (SELECT count(*) FROM found), ARRAY(SELECT f.id FROM found f ORDER BY f.id DESC LIMIT p_limit OFFSET p_offset)
  INTO total, ids;
END $$;
--> statement-breakpoint
-- Takes the lock that gives records their order, held until the transaction ends, and says what the next record will be.
CREATE FUNCTION public.audit_next(p_actor text, p_action text, p_type text, p_resource_id text, p_subject_id bigint,
  OUT id bigint, OUT created_at timestamptz, OUT mac bytea, OUT n bigint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
  SELECT h.id + 1, h.created_at, h.mac INTO STRICT id, created_at, mac FROM public.audit_head h WHERE h.one = 1 FOR UPDATE;
  n := ARRAY[
    coalesce((SELECT s.n FROM public.audit_at_most('type', '', '', p_type, id) s), 0) + 1,
    coalesce((SELECT s.n FROM public.audit_at_most('action', p_action, '', p_type, id) s), 0) + 1,
    coalesce((SELECT s.n FROM public.audit_at_most('actor', p_actor, '', p_type, id) s), 0) + 1,
    coalesce((SELECT s.n FROM public.audit_at_most('actor_action', p_actor, p_action, p_type, id) s), 0) + 1,
    coalesce((SELECT s.n FROM public.audit_at_most('resource', p_resource_id, '', p_type, id) s), 0) + 1,
    CASE WHEN p_subject_id IS NULL THEN 0
      ELSE coalesce((SELECT s.n FROM public.audit_at_most('subject', p_subject_id::text, '', '', id) s), 0) + 1 END
  ];
END $$;
--> statement-breakpoint
-- Adds the record that audit_next() announced. The seal is the program's: the database does not know the key.
CREATE FUNCTION public.audit_append(p_id bigint, p_previous bytea, p_created_at timestamptz, p_actor_type text, p_actor text,
  p_action text, p_type text, p_resource_id text, p_detail text, p_result text, p_ip text, p_subject_id bigint, p_n bigint[],
  p_mac bytea)
RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  UPDATE public.audit_head h SET id = p_id, created_at = p_created_at, mac = p_mac
  WHERE h.one = 1 AND h.id = p_id - 1 AND h.mac = p_previous AND h.created_at <= p_created_at;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the audit record % does not continue the log', p_id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF octet_length(p_mac) <> 32 OR p_mac IS NULL THEN
    RAISE EXCEPTION 'the audit record % is not sealed', p_id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  INSERT INTO public.audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip,
    subject_id, n_type, n_action, n_actor, n_actor_action, n_resource, n_subject, mac)
  VALUES (p_id, p_created_at, p_actor_type, p_actor, p_action, p_type, p_resource_id, p_detail, p_result, p_ip,
    p_subject_id, p_n[1], p_n[2], p_n[3], p_n[4], p_n[5], p_n[6], p_mac);
END $$;
--> statement-breakpoint
-- Removes the records up to p_id, the oldest first and without a gap, and leaves a checkpoint that the log continues from.
CREATE FUNCTION public.audit_purge(p_id bigint, p_purged_at timestamptz, p_seal bytea)
RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE removed bigint;
BEGIN
  INSERT INTO public.audit_checkpoint (id, created_at, mac, purged_at, seal)
  SELECT a.id, a.created_at, a.mac, p_purged_at, p_seal FROM public.audit a WHERE a.id = p_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no audit record %', p_id USING ERRCODE = 'no_data_found';
  END IF;
  DELETE FROM public.audit a WHERE a.id <= p_id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
--> statement-breakpoint
-- The guards below hold for whoever may write to the tables: their owner, a superuser, a replica that applies changes.
CREATE FUNCTION public.audit_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'audit' AND TG_OP = 'INSERT' THEN
    IF EXISTS (SELECT 1 FROM public.audit_head h WHERE h.id = NEW.id AND h.mac = NEW.mac AND h.created_at = NEW.created_at) THEN
      RETURN NEW;
    END IF;
  ELSIF TG_TABLE_NAME = 'audit' AND TG_OP = 'DELETE' AND TG_LEVEL = 'ROW' THEN
    IF OLD.id <= (SELECT max(c.id) FROM public.audit_checkpoint c) THEN RETURN OLD; END IF;
  ELSIF TG_TABLE_NAME = 'audit_head' AND TG_OP = 'UPDATE' THEN
    IF NEW.one = OLD.one AND NEW.id = OLD.id + 1 AND NEW.created_at >= OLD.created_at THEN RETURN NEW; END IF;
  ELSIF TG_TABLE_NAME = 'audit_checkpoint' AND TG_OP = 'INSERT' THEN
    IF EXISTS (SELECT 1 FROM public.audit a WHERE a.id = NEW.id AND a.mac = NEW.mac AND a.created_at = NEW.created_at) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
--> statement-breakpoint
CREATE TRIGGER audit_guard_rows BEFORE INSERT OR UPDATE OR DELETE ON public.audit FOR EACH ROW EXECUTE FUNCTION public.audit_guard();
--> statement-breakpoint
CREATE TRIGGER audit_guard_truncate BEFORE TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION public.audit_guard();
--> statement-breakpoint
CREATE TRIGGER audit_guard_rows BEFORE INSERT OR UPDATE OR DELETE ON public.audit_head FOR EACH ROW EXECUTE FUNCTION public.audit_guard();
--> statement-breakpoint
CREATE TRIGGER audit_guard_truncate BEFORE TRUNCATE ON public.audit_head FOR EACH STATEMENT EXECUTE FUNCTION public.audit_guard();
--> statement-breakpoint
CREATE TRIGGER audit_guard_rows BEFORE INSERT OR UPDATE OR DELETE ON public.audit_checkpoint FOR EACH ROW EXECUTE FUNCTION public.audit_guard();
--> statement-breakpoint
CREATE TRIGGER audit_guard_truncate BEFORE TRUNCATE ON public.audit_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION public.audit_guard();
--> statement-breakpoint
-- ALWAYS: otherwise session_replication_role = replica would skip them.
ALTER TABLE public.audit ENABLE ALWAYS TRIGGER audit_guard_rows, ENABLE ALWAYS TRIGGER audit_guard_truncate;
--> statement-breakpoint
ALTER TABLE public.audit_head ENABLE ALWAYS TRIGGER audit_guard_rows, ENABLE ALWAYS TRIGGER audit_guard_truncate;
--> statement-breakpoint
ALTER TABLE public.audit_checkpoint ENABLE ALWAYS TRIGGER audit_guard_rows, ENABLE ALWAYS TRIGGER audit_guard_truncate;
--> statement-breakpoint
REVOKE ALL ON FUNCTION public.audit_next(text, text, text, text, bigint) FROM PUBLIC;
--> statement-breakpoint
REVOKE ALL ON FUNCTION public.audit_append(bigint, bytea, timestamptz, text, text, text, text, text, text, text, text, bigint, bigint[], bytea) FROM PUBLIC;
--> statement-breakpoint
REVOKE ALL ON FUNCTION public.audit_purge(bigint, timestamptz, bytea) FROM PUBLIC;
