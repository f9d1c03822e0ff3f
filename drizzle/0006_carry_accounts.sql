INSERT INTO public.accounts (user_id, uid) SELECT id, uid FROM public.users;
--> statement-breakpoint
-- Deletions under way were noted as counters, removal:<user id>:<actor type>:<actor>.
INSERT INTO public.closings (user_id, kind, action, actor_type, actor, begun_at, due_at)
SELECT DISTINCT ON (n.user_id) n.user_id, 'remove', 'user.delete', n.actor_type, n.actor, n.begun_at, n.begun_at
FROM (
  SELECT split_part(name, ':', 2)::bigint AS user_id, split_part(name, ':', 3) AS actor_type,
    regexp_replace(name, '^removal:[^:]*:[^:]*:', '') AS actor, to_timestamp(value / 1000.0) AS begun_at
  FROM public.counters WHERE name LIKE 'removal:%'
) n ORDER BY n.user_id, n.begun_at;
--> statement-breakpoint
DELETE FROM public.counters WHERE name LIKE 'removal:%';
