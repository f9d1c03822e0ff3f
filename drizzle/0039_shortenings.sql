ALTER TABLE "closings" DROP CONSTRAINT "closings_kind";--> statement-breakpoint
ALTER TABLE "closings" ADD COLUMN "expire_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "closings" ADD CONSTRAINT "closings_kind" CHECK ("closings"."kind" in ('shut', 'remove', 'revoke', 'narrow', 'shorten', 'leave'));