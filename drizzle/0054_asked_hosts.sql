ALTER TABLE "approvals" ADD COLUMN "hosts" text[];--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "hours_wish" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "request_groups" text[];--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "allowed_hosts" text;