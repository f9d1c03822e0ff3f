-- What the table counters held goes where it belongs.
INSERT INTO public.uid_counter (one, last) SELECT 1, c.value FROM public.counters c WHERE c.name = 'uid';
--> statement-breakpoint
INSERT INTO public.service_state (one, heartbeat_at, hold_until)
SELECT 1, to_timestamp(c.value / 1000.0),
  (SELECT to_timestamp(h.value / 1000.0) FROM public.counters h WHERE h.name = 'recycle_hold_until')
FROM public.counters c WHERE c.name = 'heartbeat';
--> statement-breakpoint
INSERT INTO public.imported_locks (id, at)
SELECT substr(c.name, 6), to_timestamp(c.value / 1000.0) FROM public.counters c WHERE c.name LIKE 'lock:%';
--> statement-breakpoint
-- The key's fingerprint leaves the table that the service may write to: overwritten, it would stop verification.
INSERT INTO public.audit_key (one, fingerprint)
SELECT 1, s.value FROM public.secrets s WHERE s.name = 'audit_key_fingerprint';
--> statement-breakpoint
DELETE FROM public.secrets WHERE name = 'audit_key_fingerprint';
--> statement-breakpoint
CREATE FUNCTION public.audit_key_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'the key of the audit log stays: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
--> statement-breakpoint
CREATE TRIGGER audit_guard_rows BEFORE UPDATE OR DELETE ON public.audit_key FOR EACH ROW EXECUTE FUNCTION public.audit_key_guard();
--> statement-breakpoint
CREATE TRIGGER audit_guard_truncate BEFORE TRUNCATE ON public.audit_key FOR EACH STATEMENT EXECUTE FUNCTION public.audit_key_guard();
--> statement-breakpoint
ALTER TABLE public.audit_key ENABLE ALWAYS TRIGGER audit_guard_rows, ENABLE ALWAYS TRIGGER audit_guard_truncate;
--> statement-breakpoint
-- Stores what tells whether a key is the log's, unless something is stored already; returns what is stored then.
CREATE FUNCTION public.audit_begin(p_fingerprint bytea) RETURNS bytea
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(p_fingerprint) <> 32 OR p_fingerprint IS NULL THEN
    RAISE EXCEPTION 'this is no fingerprint of a key' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  INSERT INTO public.audit_key (one, fingerprint) VALUES (1, p_fingerprint) ON CONFLICT DO NOTHING;
  RETURN (SELECT k.fingerprint FROM public.audit_key k WHERE k.one = 1);
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION public.audit_begin(bytea) FROM PUBLIC;
--> statement-breakpoint
INSERT INTO public.audit_floor (one, milliseconds) VALUES (1, 2592000000);
--> statement-breakpoint
-- Removes the records up to p_id, the oldest first and without a gap, and leaves a checkpoint that the log continues from.
-- Younger records than the floor stay whoever calls, by the database's own clock: the caller's dates prove nothing.
CREATE OR REPLACE FUNCTION public.audit_purge(p_id bigint, p_purged_at timestamptz, p_seal bytea)
RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE removed bigint; newest timestamptz;
BEGIN
  INSERT INTO public.audit_checkpoint (id, created_at, mac, purged_at, seal)
  SELECT a.id, a.created_at, a.mac, p_purged_at, p_seal FROM public.audit a WHERE a.id = p_id
  RETURNING created_at INTO newest;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no audit record %', p_id USING ERRCODE = 'no_data_found';
  END IF;
  IF newest > clock_timestamp() - interval '1 millisecond' *
    coalesce((SELECT f.milliseconds FROM public.audit_floor f WHERE f.one = 1), 2592000000) THEN
    RAISE EXCEPTION 'the audit record % is younger than the shortest retention', p_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  DELETE FROM public.audit a WHERE a.id <= p_id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
--> statement-breakpoint
-- One page of the records about one user that match the other filters too, and how many there are. Its cost is that of the
-- user's own records within the index audit_by_subject; the expressions and settings keep to the walk along it.
CREATE FUNCTION public.audit_subject_page(p_subject_id bigint, p_actor text, p_resource_id text, p_actions text[],
  p_low bigint, p_high bigint, p_offset bigint, p_limit bigint, OUT total bigint, OUT ids bigint[])
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  WITH found AS MATERIALIZED (
    SELECT t.id FROM public.audit t
    WHERE t.subject_id IS NOT NULL
      AND (t.subject_id, t.id) >= (p_subject_id, p_low) AND (t.subject_id, t.id) <= (p_subject_id, p_high)
      AND t.action || '' = ANY (p_actions) AND (p_actor IS NULL OR t.actor || '' = p_actor)
      AND (p_resource_id IS NULL OR t.resource_id || '' = p_resource_id)
  )
  SELECT (SELECT count(*) FROM found), ARRAY(SELECT f.id FROM found f ORDER BY f.id DESC LIMIT p_limit OFFSET p_offset)
  INTO total, ids;
END $$;
