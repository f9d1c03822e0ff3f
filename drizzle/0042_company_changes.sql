ALTER TABLE "companies" ADD COLUMN "narrowing_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "companies" ADD COLUMN "narrowing_end" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "companies" ADD COLUMN "narrowing_by_type" text DEFAULT 'system' NOT NULL;--> statement-breakpoint
ALTER TABLE "companies" ADD COLUMN "narrowing_by" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "companies" ADD COLUMN "narrowing_by_owner" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "company_id" bigint;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "requested_by" text DEFAULT '' NOT NULL;