CREATE TABLE "companies" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "companies_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"contract_end" timestamp (3) with time zone,
	"max_users" integer,
	"max_ttl_days" integer,
	"source_networks" text[] DEFAULT '{}' NOT NULL,
	"host_groups" integer[] DEFAULT '{}' NOT NULL,
	"sponsor_email" text DEFAULT '' NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"asked_by_type" text DEFAULT 'system' NOT NULL,
	"asked_by" text DEFAULT '' NOT NULL,
	"asked_by_owner" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "companies_name_unique" UNIQUE("name"),
	CONSTRAINT "companies_status" CHECK ("companies"."status" in ('active', 'ending', 'ended'))
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "company_id" bigint;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "manager" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_company_id_companies_id_fk" FOREIGN KEY ("company_id") REFERENCES "public"."companies"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "users_company_id" ON "users" USING btree ("company_id","id") WHERE "users"."company_id" is not null;