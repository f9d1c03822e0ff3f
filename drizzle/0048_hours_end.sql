ALTER TABLE "companies" ADD COLUMN "hours" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "company_hours" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "hours_end" text DEFAULT 'sessions' NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_hours_end" CHECK ("users"."hours_end" in ('sessions', 'logins'));