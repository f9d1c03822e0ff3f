-- Whoever follows the log hears of each record when it is committed: the function as before, and a notification with the id.
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
  PERFORM pg_notify('audit', p_id::text);
END $$;
