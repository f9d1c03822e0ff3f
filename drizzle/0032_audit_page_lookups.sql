-- Sorted in memory, all workers' together.
SET LOCAL maintenance_work_mem = '256MB';
--> statement-breakpoint
DROP INDEX "audit_by_resource_action";--> statement-breakpoint
DROP INDEX "audit_by_resource_actor_action";--> statement-breakpoint
CREATE INDEX "audit_by_resource_action" ON "audit" USING btree (((hashtextextended("resource_id", 0) & -65536) | (hashtextextended("action", 0) & 65535)),"id","n_resource_action","resource_id","action");--> statement-breakpoint
CREATE INDEX "audit_by_resource_actor_action" ON "audit" USING btree (((hashtextextended("resource_id", hashtextextended("actor", 0)) & -65536) | (hashtextextended("action", 0) & 65535)),"id","n_resource_actor_action","resource_id","actor","action");
--> statement-breakpoint
-- The counters of a new record as in 0029, by the numbers that the two indexes now begin with: those of one resource, or of one resource
-- and actor, are neighbours, so that its actions need not be looked up all over the index.
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
      WHERE (((hashtextextended(t.resource_id, 0) & -65536) | (hashtextextended(t.action, 0) & 65535)), t.id) <= (((hashtextextended(p_resource_id, 0) & -65536) | (hashtextextended(p_action, 0) & 65535)), p_id)
        AND ((hashtextextended(t.resource_id, 0) & -65536) | (hashtextextended(t.action, 0) & 65535)) >= ((hashtextextended(p_resource_id, 0) & -65536) | (hashtextextended(p_action, 0) & 65535))
        AND t.resource_id = p_resource_id AND t.action = p_action
      ORDER BY ((hashtextextended(t.resource_id, 0) & -65536) | (hashtextextended(t.action, 0) & 65535)) DESC, t.id DESC LIMIT 1), 0),
    1 + coalesce((SELECT t.n_resource_actor_action FROM public.audit t
      WHERE (((hashtextextended(t.resource_id, hashtextextended(t.actor, 0)) & -65536) | (hashtextextended(t.action, 0) & 65535)), t.id) <= (((hashtextextended(p_resource_id, hashtextextended(p_actor, 0)) & -65536) | (hashtextextended(p_action, 0) & 65535)), p_id)
        AND ((hashtextextended(t.resource_id, hashtextextended(t.actor, 0)) & -65536) | (hashtextextended(t.action, 0) & 65535)) >= ((hashtextextended(p_resource_id, hashtextextended(p_actor, 0)) & -65536) | (hashtextextended(p_action, 0) & 65535))
        AND t.resource_id = p_resource_id AND t.actor = p_actor AND t.action = p_action
      ORDER BY ((hashtextextended(t.resource_id, hashtextextended(t.actor, 0)) & -65536) | (hashtextextended(t.action, 0) & 65535)) DESC, t.id DESC LIMIT 1), 0),
    CASE WHEN p_subject_id IS NULL THEN 0 ELSE
      1 + coalesce((SELECT CASE WHEN t.subject_id = p_subject_id THEN t.n_subject END FROM public.audit t
        WHERE t.subject_id IS NOT NULL AND (t.subject_id, t.id) <= (p_subject_id, p_id)
        ORDER BY t.subject_id DESC, t.id DESC LIMIT 1), 0) END];
END $$;
--> statement-breakpoint
-- The look-ups in the log as in 0029, but with conditions that an index checks by numbers alone. It checks every record of the page that a
-- look-up comes to, as long as it is of that series: in a large log some 60, of which one is wanted. Comparing their texts, too,
-- was most of what a page took there. Two series may have the same number, so texts are compared of what the index gives; `|| ''` keeps
-- them out of its conditions. With the counter, the order is that of the series' index alone: by the record's number, the planner may
-- walk the primary key.
DROP FUNCTION public.audit_at_least;
--> statement-breakpoint
DROP FUNCTION public.audit_at_most;
--> statement-breakpoint
DROP FUNCTION public.audit_ids;
--> statement-breakpoint
-- Of the series that have records from p_low to p_high: their actions, their counters at the oldest, how many records that are in all,
-- and the oldest and newest.
CREATE FUNCTION public.audit_ends(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_low bigint, p_high bigint,
  OUT kinds text[], OUT firsts bigint[], OUT total bigint, OUT low bigint, OUT high bigint)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN
    SELECT array_agg(k.action), array_agg(oldest.n), sum(newest.n - oldest.n + 1), min(oldest.id), max(newest.id)
    INTO kinds, firsts, total, low, high
    FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.id, t.n_action AS n FROM public.audit t
      WHERE hashtextextended(t.action, 0) = hashtextextended(k.action, 0)
        AND t.id >= p_low AND t.action || '' = k.action
      ORDER BY t.id, t.n_action LIMIT 1
    ) oldest, LATERAL (
      SELECT t.id, t.n_action AS n FROM public.audit t
      WHERE hashtextextended(t.action, 0) = hashtextextended(k.action, 0)
        AND t.id <= p_high AND t.action || '' = k.action
      ORDER BY t.id DESC, t.n_action DESC LIMIT 1
    ) newest WHERE oldest.id <= p_high;
  WHEN 'actor_action' THEN
    SELECT array_agg(k.action), array_agg(oldest.n), sum(newest.n - oldest.n + 1), min(oldest.id), max(newest.id)
    INTO kinds, firsts, total, low, high
    FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.id, t.n_actor_action AS n FROM public.audit t
      WHERE hashtextextended(t.actor, hashtextextended(t.action, 0)) = hashtextextended(p_actor, hashtextextended(k.action, 0))
        AND t.id >= p_low AND t.actor || '' = p_actor AND t.action || '' = k.action
      ORDER BY t.id, t.n_actor_action LIMIT 1
    ) oldest, LATERAL (
      SELECT t.id, t.n_actor_action AS n FROM public.audit t
      WHERE hashtextextended(t.actor, hashtextextended(t.action, 0)) = hashtextextended(p_actor, hashtextextended(k.action, 0))
        AND t.id <= p_high AND t.actor || '' = p_actor AND t.action || '' = k.action
      ORDER BY t.id DESC, t.n_actor_action DESC LIMIT 1
    ) newest WHERE oldest.id <= p_high;
  WHEN 'resource_action' THEN
    SELECT array_agg(k.action), array_agg(oldest.n), sum(newest.n - oldest.n + 1), min(oldest.id), max(newest.id)
    INTO kinds, firsts, total, low, high
    FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.id, t.n_resource_action AS n FROM public.audit t
      WHERE ((hashtextextended(t.resource_id, 0) & -65536) | (hashtextextended(t.action, 0) & 65535))
        = ((hashtextextended(p_resource_id, 0) & -65536) | (hashtextextended(k.action, 0) & 65535))
        AND t.id >= p_low AND t.resource_id || '' = p_resource_id AND t.action || '' = k.action
      ORDER BY t.id, t.n_resource_action LIMIT 1
    ) oldest, LATERAL (
      SELECT t.id, t.n_resource_action AS n FROM public.audit t
      WHERE ((hashtextextended(t.resource_id, 0) & -65536) | (hashtextextended(t.action, 0) & 65535))
        = ((hashtextextended(p_resource_id, 0) & -65536) | (hashtextextended(k.action, 0) & 65535))
        AND t.id <= p_high AND t.resource_id || '' = p_resource_id AND t.action || '' = k.action
      ORDER BY t.id DESC, t.n_resource_action DESC LIMIT 1
    ) newest WHERE oldest.id <= p_high;
  WHEN 'resource_actor_action' THEN
    SELECT array_agg(k.action), array_agg(oldest.n), sum(newest.n - oldest.n + 1), min(oldest.id), max(newest.id)
    INTO kinds, firsts, total, low, high
    FROM unnest(p_actions) k(action), LATERAL (
      SELECT t.id, t.n_resource_actor_action AS n FROM public.audit t
      WHERE ((hashtextextended(t.resource_id, hashtextextended(t.actor, 0)) & -65536) | (hashtextextended(t.action, 0) & 65535))
        = ((hashtextextended(p_resource_id, hashtextextended(p_actor, 0)) & -65536) | (hashtextextended(k.action, 0) & 65535))
        AND t.id >= p_low AND t.resource_id || '' = p_resource_id AND t.actor || '' = p_actor AND t.action || '' = k.action
      ORDER BY t.id, t.n_resource_actor_action LIMIT 1
    ) oldest, LATERAL (
      SELECT t.id, t.n_resource_actor_action AS n FROM public.audit t
      WHERE ((hashtextextended(t.resource_id, hashtextextended(t.actor, 0)) & -65536) | (hashtextextended(t.action, 0) & 65535))
        = ((hashtextextended(p_resource_id, hashtextextended(p_actor, 0)) & -65536) | (hashtextextended(k.action, 0) & 65535))
        AND t.id <= p_high AND t.resource_id || '' = p_resource_id AND t.actor || '' = p_actor AND t.action || '' = k.action
      ORDER BY t.id DESC, t.n_resource_actor_action DESC LIMIT 1
    ) newest WHERE oldest.id <= p_high;
  WHEN 'subject' THEN
    SELECT '{""}'::text[], ARRAY[oldest.n], newest.n - oldest.n + 1, oldest.id, newest.id
    INTO kinds, firsts, total, low, high
    FROM (
      SELECT t.id, t.n_subject AS n FROM public.audit t
      WHERE t.subject_id = p_subject_id AND t.id >= p_low
      ORDER BY t.id, t.n_subject LIMIT 1
    ) oldest, LATERAL (
      SELECT t.id, t.n_subject AS n FROM public.audit t
      WHERE t.subject_id = p_subject_id AND t.id <= p_high
      ORDER BY t.id DESC, t.n_subject DESC LIMIT 1
    ) newest WHERE oldest.id <= p_high;
  END CASE;
END $$;
--> statement-breakpoint
-- How many records these series have from p_low to p_id, and the newest of them.
CREATE FUNCTION public.audit_rank(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_kinds text[], p_firsts bigint[], p_low bigint, p_id bigint, OUT rank bigint, OUT reached bigint)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN
    SELECT coalesce(sum(newest.n - k.first + 1), 0), max(newest.id) INTO rank, reached
    FROM unnest(p_kinds, p_firsts) k(action, first), LATERAL (
      SELECT t.id, t.n_action AS n FROM public.audit t
      WHERE hashtextextended(t.action, 0) = hashtextextended(k.action, 0)
        AND t.id <= p_id AND t.action || '' = k.action
      ORDER BY t.id DESC, t.n_action DESC LIMIT 1
    ) newest WHERE newest.id >= p_low;
  WHEN 'actor_action' THEN
    SELECT coalesce(sum(newest.n - k.first + 1), 0), max(newest.id) INTO rank, reached
    FROM unnest(p_kinds, p_firsts) k(action, first), LATERAL (
      SELECT t.id, t.n_actor_action AS n FROM public.audit t
      WHERE hashtextextended(t.actor, hashtextextended(t.action, 0)) = hashtextextended(p_actor, hashtextextended(k.action, 0))
        AND t.id <= p_id AND t.actor || '' = p_actor AND t.action || '' = k.action
      ORDER BY t.id DESC, t.n_actor_action DESC LIMIT 1
    ) newest WHERE newest.id >= p_low;
  WHEN 'resource_action' THEN
    SELECT coalesce(sum(newest.n - k.first + 1), 0), max(newest.id) INTO rank, reached
    FROM unnest(p_kinds, p_firsts) k(action, first), LATERAL (
      SELECT t.id, t.n_resource_action AS n FROM public.audit t
      WHERE ((hashtextextended(t.resource_id, 0) & -65536) | (hashtextextended(t.action, 0) & 65535))
        = ((hashtextextended(p_resource_id, 0) & -65536) | (hashtextextended(k.action, 0) & 65535))
        AND t.id <= p_id AND t.resource_id || '' = p_resource_id AND t.action || '' = k.action
      ORDER BY t.id DESC, t.n_resource_action DESC LIMIT 1
    ) newest WHERE newest.id >= p_low;
  WHEN 'resource_actor_action' THEN
    SELECT coalesce(sum(newest.n - k.first + 1), 0), max(newest.id) INTO rank, reached
    FROM unnest(p_kinds, p_firsts) k(action, first), LATERAL (
      SELECT t.id, t.n_resource_actor_action AS n FROM public.audit t
      WHERE ((hashtextextended(t.resource_id, hashtextextended(t.actor, 0)) & -65536) | (hashtextextended(t.action, 0) & 65535))
        = ((hashtextextended(p_resource_id, hashtextextended(p_actor, 0)) & -65536) | (hashtextextended(k.action, 0) & 65535))
        AND t.id <= p_id AND t.resource_id || '' = p_resource_id AND t.actor || '' = p_actor AND t.action || '' = k.action
      ORDER BY t.id DESC, t.n_resource_actor_action DESC LIMIT 1
    ) newest WHERE newest.id >= p_low;
  WHEN 'subject' THEN
    SELECT coalesce(sum(newest.n - p_firsts[1] + 1), 0), max(newest.id) INTO rank, reached
    FROM (
      SELECT t.id, t.n_subject AS n FROM public.audit t
      WHERE t.subject_id = p_subject_id AND t.id <= p_id
      ORDER BY t.id DESC, t.n_subject DESC LIMIT 1
    ) newest WHERE newest.id >= p_low;
  END CASE;
END $$;
--> statement-breakpoint
-- The ids of the newest p_limit records of these series from p_low to p_high, newest first, without the first p_offset.
CREATE FUNCTION public.audit_ids(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_kinds text[], p_low bigint, p_high bigint, p_offset bigint, p_limit bigint, OUT ids bigint[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE p_series
  WHEN 'action' THEN
    SELECT array_agg(page.id ORDER BY page.id DESC) INTO ids FROM (
      SELECT newest.id FROM unnest(p_kinds) k(action), LATERAL (
        SELECT t.id FROM public.audit t
        WHERE hashtextextended(t.action, 0) = hashtextextended(k.action, 0)
          AND t.id >= p_low AND t.id <= p_high AND t.action || '' = k.action
        ORDER BY t.id DESC, t.n_action DESC LIMIT p_offset + p_limit
      ) newest ORDER BY newest.id DESC LIMIT p_limit OFFSET p_offset
    ) page;
  WHEN 'actor_action' THEN
    SELECT array_agg(page.id ORDER BY page.id DESC) INTO ids FROM (
      SELECT newest.id FROM unnest(p_kinds) k(action), LATERAL (
        SELECT t.id FROM public.audit t
        WHERE hashtextextended(t.actor, hashtextextended(t.action, 0)) = hashtextextended(p_actor, hashtextextended(k.action, 0))
          AND t.id >= p_low AND t.id <= p_high AND t.actor || '' = p_actor AND t.action || '' = k.action
        ORDER BY t.id DESC, t.n_actor_action DESC LIMIT p_offset + p_limit
      ) newest ORDER BY newest.id DESC LIMIT p_limit OFFSET p_offset
    ) page;
  WHEN 'resource_action' THEN
    SELECT array_agg(page.id ORDER BY page.id DESC) INTO ids FROM (
      SELECT newest.id FROM unnest(p_kinds) k(action), LATERAL (
        SELECT t.id FROM public.audit t
        WHERE ((hashtextextended(t.resource_id, 0) & -65536) | (hashtextextended(t.action, 0) & 65535))
          = ((hashtextextended(p_resource_id, 0) & -65536) | (hashtextextended(k.action, 0) & 65535))
          AND t.id >= p_low AND t.id <= p_high AND t.resource_id || '' = p_resource_id AND t.action || '' = k.action
        ORDER BY t.id DESC, t.n_resource_action DESC LIMIT p_offset + p_limit
      ) newest ORDER BY newest.id DESC LIMIT p_limit OFFSET p_offset
    ) page;
  WHEN 'resource_actor_action' THEN
    SELECT array_agg(page.id ORDER BY page.id DESC) INTO ids FROM (
      SELECT newest.id FROM unnest(p_kinds) k(action), LATERAL (
        SELECT t.id FROM public.audit t
        WHERE ((hashtextextended(t.resource_id, hashtextextended(t.actor, 0)) & -65536) | (hashtextextended(t.action, 0) & 65535))
          = ((hashtextextended(p_resource_id, hashtextextended(p_actor, 0)) & -65536) | (hashtextextended(k.action, 0) & 65535))
          AND t.id >= p_low AND t.id <= p_high AND t.resource_id || '' = p_resource_id AND t.actor || '' = p_actor AND t.action || '' = k.action
        ORDER BY t.id DESC, t.n_resource_actor_action DESC LIMIT p_offset + p_limit
      ) newest ORDER BY newest.id DESC LIMIT p_limit OFFSET p_offset
    ) page;
  WHEN 'subject' THEN
    SELECT array_agg(page.id ORDER BY page.id DESC) INTO ids FROM (
      SELECT t.id FROM public.audit t
      WHERE t.subject_id = p_subject_id AND t.id >= p_low AND t.id <= p_high
      ORDER BY t.id DESC, t.n_subject DESC LIMIT p_limit OFFSET p_offset
    ) page;
  END CASE;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION public.audit_page(p_series text, p_actor text, p_resource_id text, p_subject_id bigint,
  p_actions text[], p_low bigint, p_high bigint, p_offset bigint, p_limit bigint, OUT total bigint, OUT ids bigint[])
LANGUAGE plpgsql STABLE
-- Each look-up has one good plan, the walk along its index; making a plan costs ten times as much as using it.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_incremental_sort = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
  kinds text[]; firsts bigint[];
  wanted bigint; lowest bigint; low bigint; low_rank bigint; high bigint; high_rank bigint;
  guess bigint; guess_rank bigint; reached bigint; steps int := 0;
  near bigint; size bigint; width bigint; bottom bigint;
BEGIN
  SELECT * INTO kinds, firsts, total, lowest, high
  FROM public.audit_ends(p_series, p_actor, p_resource_id, p_subject_id, p_actions, p_low, p_high);
  total := coalesce(total, 0);
  ids := '{}';
  IF p_offset >= total THEN RETURN; END IF;
  -- The page's newest record is the wanted-th oldest. Search for an id at which the rank is that, or a little above: a step of the
  -- search looks up one record of each series, which costs as much as passing over some.
  wanted := total - p_offset;
  near := 50 + 8 * cardinality(kinds);
  low := lowest - 1; low_rank := 0; high_rank := total;
  WHILE high_rank - wanted > near AND high - low > 1 LOOP
    steps := steps + 1;
    -- Interpolation finds the place in evenly spread records at once; halving bounds the search in all others.
    guess := CASE WHEN steps % 3 = 0 THEN (low + high) / 2 ELSE
      low + ceil((wanted + near / 2 - low_rank)::float8 * (high - low) / (high_rank - low_rank))::bigint END;
    guess := least(greatest(guess, low + 1), high - 1);
    SELECT * INTO guess_rank, reached
    FROM public.audit_rank(p_series, p_actor, p_resource_id, p_subject_id, kinds, firsts, p_low, guess);
    IF guess_rank >= wanted THEN high := reached; high_rank := guess_rank;
    ELSE low := guess; low_rank := guess_rank; END IF;
  END LOOP;
  -- The page's records are expected in half of this many ids; without bounds, each series would give as many as the page has.
  size := least(p_limit, wanted);
  width := 2 * ceil((size + high_rank - wanted)::float8 * (high - low) / (high_rank - low_rank))::bigint;
  LOOP
    bottom := greatest(lowest, high - width);
    ids := public.audit_ids(p_series, p_actor, p_resource_id, p_subject_id, kinds, bottom, high, high_rank - wanted, size);
    EXIT WHEN bottom = lowest OR cardinality(ids) = size;
    width := 4 * width;
  END LOOP;
END $$;
