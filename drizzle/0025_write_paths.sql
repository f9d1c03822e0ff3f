DROP INDEX "outbox_due";--> statement-breakpoint
DROP INDEX "ssh_keys_user_id";--> statement-breakpoint
CREATE INDEX "outbox_due" ON "outbox" USING btree ("expires_at","due_at","id") WHERE "outbox"."status" = 'queued';--> statement-breakpoint
CREATE INDEX "ssh_keys_user_id" ON "ssh_keys" USING btree ("user_id","status","id");