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
