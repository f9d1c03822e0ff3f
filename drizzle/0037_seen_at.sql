ALTER TABLE "users" ADD COLUMN "seen_at" timestamp (3) with time zone;--> statement-breakpoint
-- What is known of before.
UPDATE "users" u SET "seen_at" = greatest(u."last_login_at",
  (SELECT max(k."last_used_at") FROM "ssh_keys" k WHERE k."user_id" = u."id"));--> statement-breakpoint
CREATE INDEX "users_seen_at" ON "users" USING btree ("seen_at","created_at","id");
