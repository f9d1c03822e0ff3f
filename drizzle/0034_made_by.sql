ALTER TABLE "admins" ADD COLUMN "invited_by" bigint;--> statement-breakpoint
ALTER TABLE "join_tokens" ADD COLUMN "made_by" bigint;--> statement-breakpoint
-- Invitations that are open: whose they are, is on record.
UPDATE "admins" a SET "invited_by" = i."id" FROM "audit" r, "admins" i
  WHERE a."password_hash" IS NULL AND NOT a."sso" AND r."action" = 'admin.create' AND r."resource_id" = a."id"::text
    AND r."result" = 'success' AND r."actor_type" IN ('admin', 'token')
    AND i."username" = coalesce(r."detail"::jsonb ->> 'owner', r."actor");
