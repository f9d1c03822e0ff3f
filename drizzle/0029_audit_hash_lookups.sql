-- The look-ups in the log as in 0004, by the numbers that the series' indexes now begin with. They compare the texts as well: two
-- series may have the same number. It is no equality, with which the planner may walk the primary key instead, but bounds on both sides.
CREATE OR REPLACE FUNCTION public.audit_at_most(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_id bigint)
RETURNS TABLE (action text, id bigint, n bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN RETURN QUERY
    SELECT k.action, f.id, f.n FROM (SELECT one.action, hashtextextended(one.action, 0) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id, t.n_action AS n FROM public.audit t
      WHERE (hashtextextended(t.action, 0), t.id) <= (k.hash, p_id)
        AND hashtextextended(t.action, 0) >= k.hash
        AND t.action = k.action
      ORDER BY hashtextextended(t.action, 0) DESC, t.id DESC LIMIT 1
    ) f;
  WHEN 'actor_action' THEN RETURN QUERY
    SELECT k.action, f.id, f.n FROM (SELECT one.action, hashtextextended(p_actor, hashtextextended(one.action, 0)) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id, t.n_actor_action AS n FROM public.audit t
      WHERE (hashtextextended(t.actor, hashtextextended(t.action, 0)), t.id) <= (k.hash, p_id)
        AND hashtextextended(t.actor, hashtextextended(t.action, 0)) >= k.hash
        AND t.actor = p_actor AND t.action = k.action
      ORDER BY hashtextextended(t.actor, hashtextextended(t.action, 0)) DESC, t.id DESC LIMIT 1
    ) f;
  WHEN 'resource_action' THEN RETURN QUERY
    SELECT k.action, f.id, f.n FROM (SELECT one.action, hashtextextended(p_resource_id, hashtextextended(one.action, 0)) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id, t.n_resource_action AS n FROM public.audit t
      WHERE (hashtextextended(t.resource_id, hashtextextended(t.action, 0)), t.id) <= (k.hash, p_id)
        AND hashtextextended(t.resource_id, hashtextextended(t.action, 0)) >= k.hash
        AND t.resource_id = p_resource_id AND t.action = k.action
      ORDER BY hashtextextended(t.resource_id, hashtextextended(t.action, 0)) DESC, t.id DESC LIMIT 1
    ) f;
  WHEN 'resource_actor_action' THEN RETURN QUERY
    SELECT k.action, f.id, f.n FROM (SELECT one.action, hashtextextended(p_resource_id, hashtextextended(p_actor, hashtextextended(one.action, 0))) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id, t.n_resource_actor_action AS n FROM public.audit t
      WHERE (hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))), t.id) <= (k.hash, p_id)
        AND hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))) >= k.hash
        AND t.resource_id = p_resource_id AND t.actor = p_actor AND t.action = k.action
      ORDER BY hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))) DESC, t.id DESC LIMIT 1
    ) f;
  WHEN 'subject' THEN RETURN QUERY
    SELECT ''::text, f.id, f.n FROM (
      SELECT t.subject_id, t.id, t.n_subject AS n FROM public.audit t
      WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) <= (p_subject_id, p_id)
      ORDER BY t.subject_id DESC, t.id DESC LIMIT 1
    ) f WHERE f.subject_id = p_subject_id;
  END CASE;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION public.audit_at_least(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_id bigint)
RETURNS TABLE (action text, id bigint, n bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN RETURN QUERY
    SELECT k.action, f.id, f.n FROM (SELECT one.action, hashtextextended(one.action, 0) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id, t.n_action AS n FROM public.audit t
      WHERE (hashtextextended(t.action, 0), t.id) >= (k.hash, p_id)
        AND hashtextextended(t.action, 0) <= k.hash
        AND t.action = k.action
      ORDER BY hashtextextended(t.action, 0), t.id LIMIT 1
    ) f;
  WHEN 'actor_action' THEN RETURN QUERY
    SELECT k.action, f.id, f.n FROM (SELECT one.action, hashtextextended(p_actor, hashtextextended(one.action, 0)) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id, t.n_actor_action AS n FROM public.audit t
      WHERE (hashtextextended(t.actor, hashtextextended(t.action, 0)), t.id) >= (k.hash, p_id)
        AND hashtextextended(t.actor, hashtextextended(t.action, 0)) <= k.hash
        AND t.actor = p_actor AND t.action = k.action
      ORDER BY hashtextextended(t.actor, hashtextextended(t.action, 0)), t.id LIMIT 1
    ) f;
  WHEN 'resource_action' THEN RETURN QUERY
    SELECT k.action, f.id, f.n FROM (SELECT one.action, hashtextextended(p_resource_id, hashtextextended(one.action, 0)) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id, t.n_resource_action AS n FROM public.audit t
      WHERE (hashtextextended(t.resource_id, hashtextextended(t.action, 0)), t.id) >= (k.hash, p_id)
        AND hashtextextended(t.resource_id, hashtextextended(t.action, 0)) <= k.hash
        AND t.resource_id = p_resource_id AND t.action = k.action
      ORDER BY hashtextextended(t.resource_id, hashtextextended(t.action, 0)), t.id LIMIT 1
    ) f;
  WHEN 'resource_actor_action' THEN RETURN QUERY
    SELECT k.action, f.id, f.n FROM (SELECT one.action, hashtextextended(p_resource_id, hashtextextended(p_actor, hashtextextended(one.action, 0))) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id, t.n_resource_actor_action AS n FROM public.audit t
      WHERE (hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))), t.id) >= (k.hash, p_id)
        AND hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))) <= k.hash
        AND t.resource_id = p_resource_id AND t.actor = p_actor AND t.action = k.action
      ORDER BY hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))), t.id LIMIT 1
    ) f;
  WHEN 'subject' THEN RETURN QUERY
    SELECT ''::text, f.id, f.n FROM (
      SELECT t.subject_id, t.id, t.n_subject AS n FROM public.audit t
      WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) >= (p_subject_id, p_id)
      ORDER BY t.subject_id, t.id LIMIT 1
    ) f WHERE f.subject_id = p_subject_id;
  END CASE;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION public.audit_ids(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_low bigint, p_high bigint, p_limit bigint)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN RETURN QUERY
    SELECT f.id FROM (SELECT one.action, hashtextextended(one.action, 0) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id FROM public.audit t
      WHERE (hashtextextended(t.action, 0), t.id) <= (k.hash, p_high)
        AND (hashtextextended(t.action, 0), t.id) >= (k.hash, p_low)
        AND t.action = k.action
      ORDER BY hashtextextended(t.action, 0) DESC, t.id DESC LIMIT p_limit
    ) f;
  WHEN 'actor_action' THEN RETURN QUERY
    SELECT f.id FROM (SELECT one.action, hashtextextended(p_actor, hashtextextended(one.action, 0)) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id FROM public.audit t
      WHERE (hashtextextended(t.actor, hashtextextended(t.action, 0)), t.id) <= (k.hash, p_high)
        AND (hashtextextended(t.actor, hashtextextended(t.action, 0)), t.id) >= (k.hash, p_low)
        AND t.actor = p_actor AND t.action = k.action
      ORDER BY hashtextextended(t.actor, hashtextextended(t.action, 0)) DESC, t.id DESC LIMIT p_limit
    ) f;
  WHEN 'resource_action' THEN RETURN QUERY
    SELECT f.id FROM (SELECT one.action, hashtextextended(p_resource_id, hashtextextended(one.action, 0)) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id FROM public.audit t
      WHERE (hashtextextended(t.resource_id, hashtextextended(t.action, 0)), t.id) <= (k.hash, p_high)
        AND (hashtextextended(t.resource_id, hashtextextended(t.action, 0)), t.id) >= (k.hash, p_low)
        AND t.resource_id = p_resource_id AND t.action = k.action
      ORDER BY hashtextextended(t.resource_id, hashtextextended(t.action, 0)) DESC, t.id DESC LIMIT p_limit
    ) f;
  WHEN 'resource_actor_action' THEN RETURN QUERY
    SELECT f.id FROM (SELECT one.action, hashtextextended(p_resource_id, hashtextextended(p_actor, hashtextextended(one.action, 0))) AS hash FROM unnest(p_actions) one(action)) k, LATERAL (
      SELECT t.id FROM public.audit t
      WHERE (hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))), t.id) <= (k.hash, p_high)
        AND (hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))), t.id) >= (k.hash, p_low)
        AND t.resource_id = p_resource_id AND t.actor = p_actor AND t.action = k.action
      ORDER BY hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))) DESC, t.id DESC LIMIT p_limit
    ) f;
  WHEN 'subject' THEN RETURN QUERY
    SELECT f.id FROM (
      SELECT t.subject_id, t.id FROM public.audit t
      WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) <= (p_subject_id, p_high)
        AND (t.subject_id, t.id) >= (p_subject_id, p_low)
      ORDER BY t.subject_id DESC, t.id DESC LIMIT p_limit
    ) f;
  END CASE;
END $$;
--> statement-breakpoint
-- As before, but the newest records are looked up only of the series that have an oldest: one resource has few of all actions.
CREATE OR REPLACE FUNCTION public.audit_page(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
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
  SELECT array_agg(oldest.action), array_agg(oldest.n), min(oldest.id) INTO kinds, firsts, low
  FROM public.audit_at_least(p_series, p_actor, p_resource_id, p_subject_id, p_actions, p_low) oldest
  WHERE oldest.id <= p_high;
  total := 0;
  ids := '{}';
  IF kinds IS NULL THEN RETURN; END IF;
  SELECT sum(newest.n - kind.first + 1), max(newest.id) INTO total, high
  FROM public.audit_at_most(p_series, p_actor, p_resource_id, p_subject_id, kinds, p_high) newest
    JOIN unnest(kinds, firsts) kind(action, first) USING (action);
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
-- The counters of a new record, by one statement of five look-ups instead of one of five calls: a record took most of its time in them.
CREATE OR REPLACE FUNCTION public.audit_counters(p_actor text, p_action text, p_resource_id text, p_subject_id bigint,
  p_id bigint)
RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY[
    1 + coalesce((SELECT t.n_action FROM public.audit t
      WHERE (hashtextextended(t.action, 0), t.id) <= (hashtextextended(p_action, 0), p_id)
        AND hashtextextended(t.action, 0) >= hashtextextended(p_action, 0)
        AND t.action = p_action
      ORDER BY hashtextextended(t.action, 0) DESC, t.id DESC LIMIT 1), 0),
    1 + coalesce((SELECT t.n_actor_action FROM public.audit t
      WHERE (hashtextextended(t.actor, hashtextextended(t.action, 0)), t.id) <= (hashtextextended(p_actor, hashtextextended(p_action, 0)), p_id)
        AND hashtextextended(t.actor, hashtextextended(t.action, 0)) >= hashtextextended(p_actor, hashtextextended(p_action, 0))
        AND t.actor = p_actor AND t.action = p_action
      ORDER BY hashtextextended(t.actor, hashtextextended(t.action, 0)) DESC, t.id DESC LIMIT 1), 0),
    1 + coalesce((SELECT t.n_resource_action FROM public.audit t
      WHERE (hashtextextended(t.resource_id, hashtextextended(t.action, 0)), t.id) <= (hashtextextended(p_resource_id, hashtextextended(p_action, 0)), p_id)
        AND hashtextextended(t.resource_id, hashtextextended(t.action, 0)) >= hashtextextended(p_resource_id, hashtextextended(p_action, 0))
        AND t.resource_id = p_resource_id AND t.action = p_action
      ORDER BY hashtextextended(t.resource_id, hashtextextended(t.action, 0)) DESC, t.id DESC LIMIT 1), 0),
    1 + coalesce((SELECT t.n_resource_actor_action FROM public.audit t
      WHERE (hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))), t.id) <= (hashtextextended(p_resource_id, hashtextextended(p_actor, hashtextextended(p_action, 0))), p_id)
        AND hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))) >= hashtextextended(p_resource_id, hashtextextended(p_actor, hashtextextended(p_action, 0)))
        AND t.resource_id = p_resource_id AND t.actor = p_actor AND t.action = p_action
      ORDER BY hashtextextended(t.resource_id, hashtextextended(t.actor, hashtextextended(t.action, 0))) DESC, t.id DESC LIMIT 1), 0),
    CASE WHEN p_subject_id IS NULL THEN 0 ELSE
      1 + coalesce((SELECT CASE WHEN t.subject_id = p_subject_id THEN t.n_subject END FROM public.audit t
        WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) <= (p_subject_id, p_id)
        ORDER BY t.subject_id DESC, t.id DESC LIMIT 1), 0) END];
END $$;
--> statement-breakpoint
-- As the guard in 0026, whatever forbids scans is compiled by PostgreSQL before 18: a page with a filter took 130 to 230 ms.
ALTER FUNCTION public.audit_append SET jit = off;
--> statement-breakpoint
ALTER FUNCTION public.audit_next SET jit = off;
--> statement-breakpoint
ALTER FUNCTION public.audit_page SET jit = off;
--> statement-breakpoint
ALTER FUNCTION public.audit_subject_page SET jit = off;
