ALTER TABLE "tokens" ADD COLUMN "made_by" bigint;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "made_by" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "made_by_id" bigint;--> statement-breakpoint
ALTER TABLE "sso_identities" ADD COLUMN "readmitted_by" bigint;--> statement-breakpoint
-- Tokens in use, and webhooks: what made them is on record.
UPDATE "tokens" t SET "made_by" = (r."detail"::jsonb ->> 'token_id')::bigint
  FROM "audit" r
  WHERE t."revoked_at" IS NULL AND r."action" = 'token.create' AND r."resource_id" = t."id"::text
    AND r."result" = 'success' AND r."actor_type" = 'token' AND r."created_at" >= t."created_at";--> statement-breakpoint
UPDATE "webhooks" w SET "made_by" = coalesce(r."detail"::jsonb ->> 'owner', r."actor"),
    "made_by_id" = (
      SELECT a."id" FROM "admins" a
      WHERE a."username" = coalesce(r."detail"::jsonb ->> 'owner', r."actor") AND a."created_at" <= r."created_at")
  FROM "audit" r
  WHERE r."action" = 'webhook.create' AND r."resource_id" = w."id"::text
    AND r."result" = 'success' AND r."actor_type" IN ('admin', 'token') AND r."created_at" >= w."created_at";
