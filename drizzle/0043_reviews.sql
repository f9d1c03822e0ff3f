CREATE TABLE "inactivity_notices" (
	"user_id" bigint PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"mailed_at" timestamp (3) with time zone NOT NULL,
	"reminded_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "review_items" (
	"review_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	"username" text NOT NULL,
	"answer" text,
	"grace_until" timestamp (3) with time zone,
	"until" timestamp (3) with time zone,
	"reason" text DEFAULT '' NOT NULL,
	"answered_at" timestamp (3) with time zone,
	"answered_by_type" text,
	"answered_by" text DEFAULT '' NOT NULL,
	"answered_by_owner" text DEFAULT '' NOT NULL,
	"answered_from" text DEFAULT '' NOT NULL,
	"evidence" text DEFAULT '' NOT NULL,
	"record" bigint DEFAULT 0 NOT NULL,
	"pending" boolean DEFAULT false NOT NULL,
	CONSTRAINT "review_items_review_id_user_id_pk" PRIMARY KEY("review_id","user_id"),
	CONSTRAINT "review_items_answer" CHECK ("review_items"."answer" in ('keep', 'end', 'shorten', 'unanswered', 'gone'))
);
--> statement-breakpoint
CREATE TABLE "reviews" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "reviews_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"scope" text NOT NULL,
	"scope_id" bigint,
	"scope_name" text DEFAULT '' NOT NULL,
	"unanswered" text NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"started_by" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"reminded" integer,
	"start_record" bigint DEFAULT 0 NOT NULL,
	"close_record" bigint DEFAULT 0 NOT NULL,
	"close_seal" text DEFAULT '' NOT NULL,
	CONSTRAINT "reviews_status" CHECK ("reviews"."status" in ('open', 'closed')),
	CONSTRAINT "reviews_scope" CHECK ("reviews"."scope" in ('all', 'company', 'host_group', 'sponsor')),
	CONSTRAINT "reviews_unanswered" CHECK ("reviews"."unanswered" in ('disable', 'report'))
);
--> statement-breakpoint
ALTER TABLE "inactivity_notices" ADD CONSTRAINT "inactivity_notices_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "review_items" ADD CONSTRAINT "review_items_review_id_reviews_id_fk" FOREIGN KEY ("review_id") REFERENCES "public"."reviews"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "review_items_open" ON "review_items" USING btree ("review_id","user_id") WHERE "review_items"."answer" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "review_items_pending" ON "review_items" USING btree ("review_id","user_id") WHERE "review_items"."pending";--> statement-breakpoint
CREATE INDEX "review_items_user" ON "review_items" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "reviews_open" ON "reviews" USING btree ("due_at") WHERE "reviews"."status" = 'open';