-- What the seals of the records so far cover is kept beside them: no migration knows the key to seal anything anew.
ALTER TABLE "audit" ADD COLUMN "n_resource_action" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "n_resource_actor_action" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "sealed_counters" text;--> statement-breakpoint
DROP INDEX "audit_by_type";--> statement-breakpoint
DROP INDEX "audit_by_action";--> statement-breakpoint
DROP INDEX "audit_by_actor";--> statement-breakpoint
DROP INDEX "audit_by_actor_action";--> statement-breakpoint
DROP INDEX "audit_by_resource";--> statement-breakpoint
-- Every record is written anew, which is quicker without indexes, and sorted in memory.
SET LOCAL work_mem = '128MB';
--> statement-breakpoint
SET LOCAL maintenance_work_mem = '256MB';
--> statement-breakpoint
DROP INDEX "audit_created_at";--> statement-breakpoint
DROP INDEX "audit_by_subject";--> statement-breakpoint
ALTER TABLE "audit" DROP CONSTRAINT "audit_pkey";--> statement-breakpoint
ALTER TABLE public.audit DISABLE TRIGGER audit_guard_rows;
--> statement-breakpoint
UPDATE public.audit a SET n_resource_action = r.n_resource_action, n_resource_actor_action = r.n_resource_actor_action,
  sealed_counters = CASE WHEN a.mac <> '' THEN
    json_build_array(a.n_type, a.n_action, a.n_actor, a.n_actor_action, a.n_resource, a.n_subject)::text END
FROM (
  SELECT id, row_number() OVER (PARTITION BY resource_id, action ORDER BY id) AS n_resource_action,
    row_number() OVER (PARTITION BY resource_id, actor, action ORDER BY id) AS n_resource_actor_action
  FROM public.audit
) r WHERE r.id = a.id;
--> statement-breakpoint
ALTER TABLE public.audit ENABLE ALWAYS TRIGGER audit_guard_rows;
--> statement-breakpoint
ALTER TABLE "audit" DROP COLUMN "n_type";--> statement-breakpoint
ALTER TABLE "audit" DROP COLUMN "n_actor";--> statement-breakpoint
ALTER TABLE "audit" DROP COLUMN "n_resource";--> statement-breakpoint
ALTER TABLE "audit" ADD PRIMARY KEY ("id");--> statement-breakpoint
CREATE INDEX "audit_created_at" ON "audit" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "audit_by_subject" ON "audit" USING btree ("subject_id","id","n_subject") WHERE "audit"."subject_id" is not null;--> statement-breakpoint
CREATE INDEX "audit_by_action" ON "audit" USING btree ("action","id","n_action");--> statement-breakpoint
CREATE INDEX "audit_by_actor_action" ON "audit" USING btree ("actor","action","id","n_actor_action");--> statement-breakpoint
CREATE INDEX "audit_by_resource_action" ON "audit" USING btree ("resource_id","action","id","n_resource_action");--> statement-breakpoint
CREATE INDEX "audit_by_resource_actor_action" ON "audit" USING btree ("resource_id","actor","action","id","n_resource_actor_action");--> statement-breakpoint
DROP FUNCTION public.audit_resource_page;
--> statement-breakpoint
DROP FUNCTION public.audit_page;
--> statement-breakpoint
DROP FUNCTION public.audit_ids;
--> statement-breakpoint
DROP FUNCTION public.audit_at_least;
--> statement-breakpoint
DROP FUNCTION public.audit_at_most;
--> statement-breakpoint
-- A series is the records with one action and, if its name says so, one actor and one resource id; "subject" is those about
-- one user. The newest record of each of the series whose id is at most p_id. Row comparisons, because with equalities the
-- planner may walk the primary key instead, through the whole log where a series is empty.
CREATE FUNCTION public.audit_at_most(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_id bigint)
RETURNS TABLE (action text, id bigint, n bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN RETURN QUERY
    SELECT f.action, f.id, f.n FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.action, t.id, t.n_action AS n FROM public.audit t
      WHERE (t.action, t.id) <= (k.action, p_id)
      ORDER BY t.action DESC, t.id DESC LIMIT 1
    ) f WHERE f.action = k.action;
  WHEN 'actor_action' THEN RETURN QUERY
    SELECT f.action, f.id, f.n FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.actor, t.action, t.id, t.n_actor_action AS n FROM public.audit t
      WHERE (t.actor, t.action, t.id) <= (p_actor, k.action, p_id)
      ORDER BY t.actor DESC, t.action DESC, t.id DESC LIMIT 1
    ) f WHERE f.actor = p_actor AND f.action = k.action;
  WHEN 'resource_action' THEN RETURN QUERY
    SELECT f.action, f.id, f.n FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.resource_id, t.action, t.id, t.n_resource_action AS n FROM public.audit t
      WHERE (t.resource_id, t.action, t.id) <= (p_resource_id, k.action, p_id)
      ORDER BY t.resource_id DESC, t.action DESC, t.id DESC LIMIT 1
    ) f WHERE f.resource_id = p_resource_id AND f.action = k.action;
  WHEN 'resource_actor_action' THEN RETURN QUERY
    SELECT f.action, f.id, f.n FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.resource_id, t.actor, t.action, t.id, t.n_resource_actor_action AS n FROM public.audit t
      WHERE (t.resource_id, t.actor, t.action, t.id) <= (p_resource_id, p_actor, k.action, p_id)
      ORDER BY t.resource_id DESC, t.actor DESC, t.action DESC, t.id DESC LIMIT 1
    ) f WHERE f.resource_id = p_resource_id AND f.actor = p_actor AND f.action = k.action;
  WHEN 'subject' THEN RETURN QUERY
    SELECT ''::text, f.id, f.n FROM (
      SELECT t.subject_id, t.id, t.n_subject AS n FROM public.audit t
      WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) <= (p_subject_id, p_id)
      ORDER BY t.subject_id DESC, t.id DESC LIMIT 1
    ) f WHERE f.subject_id = p_subject_id;
  END CASE;
END $$;
--> statement-breakpoint
-- The oldest record of each of the series whose id is at least p_id.
CREATE FUNCTION public.audit_at_least(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_id bigint)
RETURNS TABLE (action text, id bigint, n bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN RETURN QUERY
    SELECT f.action, f.id, f.n FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.action, t.id, t.n_action AS n FROM public.audit t
      WHERE (t.action, t.id) >= (k.action, p_id)
      ORDER BY t.action, t.id LIMIT 1
    ) f WHERE f.action = k.action;
  WHEN 'actor_action' THEN RETURN QUERY
    SELECT f.action, f.id, f.n FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.actor, t.action, t.id, t.n_actor_action AS n FROM public.audit t
      WHERE (t.actor, t.action, t.id) >= (p_actor, k.action, p_id)
      ORDER BY t.actor, t.action, t.id LIMIT 1
    ) f WHERE f.actor = p_actor AND f.action = k.action;
  WHEN 'resource_action' THEN RETURN QUERY
    SELECT f.action, f.id, f.n FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.resource_id, t.action, t.id, t.n_resource_action AS n FROM public.audit t
      WHERE (t.resource_id, t.action, t.id) >= (p_resource_id, k.action, p_id)
      ORDER BY t.resource_id, t.action, t.id LIMIT 1
    ) f WHERE f.resource_id = p_resource_id AND f.action = k.action;
  WHEN 'resource_actor_action' THEN RETURN QUERY
    SELECT f.action, f.id, f.n FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.resource_id, t.actor, t.action, t.id, t.n_resource_actor_action AS n FROM public.audit t
      WHERE (t.resource_id, t.actor, t.action, t.id) >= (p_resource_id, p_actor, k.action, p_id)
      ORDER BY t.resource_id, t.actor, t.action, t.id LIMIT 1
    ) f WHERE f.resource_id = p_resource_id AND f.actor = p_actor AND f.action = k.action;
  WHEN 'subject' THEN RETURN QUERY
    SELECT ''::text, f.id, f.n FROM (
      SELECT t.subject_id, t.id, t.n_subject AS n FROM public.audit t
      WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) >= (p_subject_id, p_id)
      ORDER BY t.subject_id, t.id LIMIT 1
    ) f WHERE f.subject_id = p_subject_id;
  END CASE;
END $$;
--> statement-breakpoint
-- The ids of the newest p_limit records of each of the series with p_low <= id <= p_high.
CREATE FUNCTION public.audit_ids(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_low bigint, p_high bigint, p_limit bigint)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN RETURN QUERY
    SELECT f.id FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.action, t.id FROM public.audit t
      WHERE (t.action, t.id) <= (k.action, p_high)
      ORDER BY t.action DESC, t.id DESC LIMIT p_limit
    ) f WHERE f.action = k.action AND f.id >= p_low;
  WHEN 'actor_action' THEN RETURN QUERY
    SELECT f.id FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.actor, t.action, t.id FROM public.audit t
      WHERE (t.actor, t.action, t.id) <= (p_actor, k.action, p_high)
      ORDER BY t.actor DESC, t.action DESC, t.id DESC LIMIT p_limit
    ) f WHERE f.actor = p_actor AND f.action = k.action AND f.id >= p_low;
  WHEN 'resource_action' THEN RETURN QUERY
    SELECT f.id FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.resource_id, t.action, t.id FROM public.audit t
      WHERE (t.resource_id, t.action, t.id) <= (p_resource_id, k.action, p_high)
      ORDER BY t.resource_id DESC, t.action DESC, t.id DESC LIMIT p_limit
    ) f WHERE f.resource_id = p_resource_id AND f.action = k.action AND f.id >= p_low;
  WHEN 'resource_actor_action' THEN RETURN QUERY
    SELECT f.id FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.resource_id, t.actor, t.action, t.id FROM public.audit t
      WHERE (t.resource_id, t.actor, t.action, t.id) <= (p_resource_id, p_actor, k.action, p_high)
      ORDER BY t.resource_id DESC, t.actor DESC, t.action DESC, t.id DESC LIMIT p_limit
    ) f WHERE f.resource_id = p_resource_id AND f.actor = p_actor AND f.action = k.action AND f.id >= p_low;
  WHEN 'subject' THEN RETURN QUERY
    SELECT f.id FROM (
      SELECT t.subject_id, t.id FROM public.audit t
      WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) <= (p_subject_id, p_high)
      ORDER BY t.subject_id DESC, t.id DESC LIMIT p_limit
    ) f WHERE f.subject_id = p_subject_id AND f.id >= p_low;
  END CASE;
END $$;
--> statement-breakpoint
-- How many records the series of p_actions have from p_low to p_high, and the ids of one page of them all, newest first. The
-- counters in the records make the cost of any page that of some index look-ups.
CREATE FUNCTION public.audit_page(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_low bigint, p_high bigint, p_offset bigint, p_limit bigint, OUT total bigint, OUT ids bigint[])
LANGUAGE plpgsql STABLE
-- Each look-up has one good plan, the walk along its index; making a plan costs ten times as much as using it.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  kinds text[]; firsts bigint[];
  wanted bigint; low bigint; low_rank bigint; high bigint; high_rank bigint;
  guess bigint; guess_rank bigint; reached bigint; steps int := 0;
  near constant bigint := 50;
BEGIN
  SELECT array_agg(oldest.action), array_agg(oldest.n), coalesce(sum(newest.n - oldest.n + 1), 0), min(oldest.id),
    max(newest.id)
  INTO kinds, firsts, total, low, high
  FROM public.audit_at_least(p_series, p_actor, p_resource_id, p_subject_id, p_actions, p_low) oldest
    JOIN public.audit_at_most(p_series, p_actor, p_resource_id, p_subject_id, p_actions, p_high) newest USING (action)
  WHERE oldest.id <= newest.id;
  ids := '{}';
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
    SELECT coalesce(sum(found.n - kind.first + 1), 0), max(found.id) INTO guess_rank, reached
    FROM public.audit_at_most(p_series, p_actor, p_resource_id, p_subject_id, kinds, guess) found
      JOIN unnest(kinds, firsts) kind(action, first) USING (action)
    WHERE found.id >= p_low;
    IF guess_rank >= wanted THEN high := reached; high_rank := guess_rank;
    ELSE low := guess; low_rank := guess_rank; END IF;
  END LOOP;
  SELECT array_agg(page.id ORDER BY page.id DESC) INTO ids FROM (
    SELECT s.id FROM public.audit_ids(p_series, p_actor, p_resource_id, p_subject_id, kinds, p_low, high,
      p_limit + high_rank - wanted) s(id)
    ORDER BY s.id DESC LIMIT p_limit OFFSET high_rank - wanted
  ) page;
END $$;
--> statement-breakpoint
-- The counters of a record that would be added after p_id.
CREATE FUNCTION public.audit_counters(p_actor text, p_action text, p_resource_id text, p_subject_id bigint, p_id bigint)
RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT array_agg(CASE WHEN series.name = 'subject' AND p_subject_id IS NULL THEN 0 ELSE coalesce(newest.n, 0) + 1 END
    ORDER BY series.place)
  FROM unnest(ARRAY['action', 'actor_action', 'resource_action', 'resource_actor_action', 'subject'])
      WITH ORDINALITY series(name, place)
    LEFT JOIN LATERAL public.audit_at_most(series.name, p_actor, p_resource_id, p_subject_id, ARRAY[p_action], p_id) newest
      ON true
$$;
--> statement-breakpoint
-- Takes the lock that gives records their order, held until the transaction ends, and says what the next record will be.
CREATE OR REPLACE FUNCTION public.audit_next(p_actor text, p_action text, p_type text, p_resource_id text, p_subject_id bigint,
  OUT id bigint, OUT created_at timestamptz, OUT mac bytea, OUT n bigint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
  SELECT h.id + 1, h.created_at, h.mac INTO STRICT id, created_at, mac FROM public.audit_head h WHERE h.one = 1 FOR UPDATE;
  n := public.audit_counters(p_actor, p_action, p_resource_id, p_subject_id, id);
END $$;
--> statement-breakpoint
-- Adds the record that audit_next() announced. The seal is the program's: the database does not know the key. An instance of
-- the version before, which may go on while this one takes over, has six counters, and has sealed them.
CREATE OR REPLACE FUNCTION public.audit_append(p_id bigint, p_previous bytea, p_created_at timestamptz, p_actor_type text,
  p_actor text, p_action text, p_type text, p_resource_id text, p_detail text, p_result text, p_ip text, p_subject_id bigint,
  p_n bigint[], p_mac bytea)
RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE n bigint[] := p_n; sealed text;
BEGIN
  UPDATE public.audit_head h SET id = p_id, created_at = p_created_at, mac = p_mac
  WHERE h.one = 1 AND h.id = p_id - 1 AND h.mac = p_previous AND h.created_at <= p_created_at;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the audit record % does not continue the log', p_id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF octet_length(p_mac) <> 32 OR p_mac IS NULL THEN
    RAISE EXCEPTION 'the audit record % is not sealed', p_id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF cardinality(p_n) = 6 THEN
    n := public.audit_counters(p_actor, p_action, p_resource_id, p_subject_id, p_id);
    sealed := array_to_json(p_n)::text;
  END IF;
  INSERT INTO public.audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip,
    subject_id, n_action, n_actor_action, n_resource_action, n_resource_actor_action, n_subject, sealed_counters, mac)
  VALUES (p_id, p_created_at, p_actor_type, p_actor, p_action, p_type, p_resource_id, p_detail, p_result, p_ip,
    p_subject_id, n[1], n[2], n[3], n[4], n[5], sealed, p_mac);
END $$;
