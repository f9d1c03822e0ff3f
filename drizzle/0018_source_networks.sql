ALTER TABLE "closings" DROP CONSTRAINT "closings_kind";--> statement-breakpoint
ALTER TABLE "closings" ADD COLUMN "networks" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "ssh_keys" ADD COLUMN "source_networks" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "source_networks" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "closings" ADD CONSTRAINT "closings_kind" CHECK ("closings"."kind" in ('shut', 'remove', 'revoke', 'narrow'));