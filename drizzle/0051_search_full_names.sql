-- Sorted in memory, all workers' together.
SET LOCAL maintenance_work_mem = '256MB';
--> statement-breakpoint
DROP INDEX "users_search";--> statement-breakpoint
CREATE INDEX "users_search" ON "users" USING gin (public.text_parts(lower(('ext_'::text || "username" || E'\n' || "email" || E'\n' || "full_name" || E'\n' || "supervisor" || E'\n' || "purpose") collate "C"))) WITH (gin_pending_list_limit=256);