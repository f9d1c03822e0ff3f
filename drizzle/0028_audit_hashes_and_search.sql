-- Sorted in memory, all workers' together.
SET LOCAL maintenance_work_mem = '256MB';
--> statement-breakpoint
DROP INDEX "audit_by_action";--> statement-breakpoint
DROP INDEX "audit_by_actor_action";--> statement-breakpoint
DROP INDEX "audit_by_resource_action";--> statement-breakpoint
DROP INDEX "audit_by_resource_actor_action";--> statement-breakpoint
CREATE INDEX "users_search" ON "users" USING gin (public.text_parts(lower(('ext_'::text || "username" || E'\n' || "email" || E'\n' || "supervisor" || E'\n' || "purpose") collate "C"))) WITH (gin_pending_list_limit=256);--> statement-breakpoint
CREATE INDEX "audit_by_action" ON "audit" USING btree (hashtextextended("action", 0),"id","n_action","action");--> statement-breakpoint
CREATE INDEX "audit_by_actor_action" ON "audit" USING btree (hashtextextended("actor", hashtextextended("action", 0)),"id","n_actor_action","actor","action");--> statement-breakpoint
CREATE INDEX "audit_by_resource_action" ON "audit" USING btree (hashtextextended("resource_id", hashtextextended("action", 0)),"id","n_resource_action","resource_id","action");--> statement-breakpoint
CREATE INDEX "audit_by_resource_actor_action" ON "audit" USING btree (hashtextextended("resource_id", hashtextextended("actor", hashtextextended("action", 0))),"id","n_resource_actor_action","resource_id","actor","action");