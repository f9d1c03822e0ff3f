CREATE TABLE "accounts" (
	"user_id" bigint NOT NULL,
	"host_id" integer DEFAULT 1 NOT NULL,
	"uid" integer NOT NULL,
	"generation" bigint DEFAULT 1 NOT NULL,
	CONSTRAINT "accounts_user_id_host_id_pk" PRIMARY KEY("user_id","host_id")
);
--> statement-breakpoint
CREATE TABLE "closings" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "closings_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"key_id" bigint DEFAULT 0 NOT NULL,
	"action" text NOT NULL,
	"actor_type" text NOT NULL,
	"actor" text NOT NULL,
	"begun_at" timestamp (3) with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"problem" text DEFAULT '' NOT NULL,
	CONSTRAINT "closings_kind" CHECK ("closings"."kind" in ('shut', 'remove', 'revoke'))
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_uid" ON "accounts" USING btree ("host_id","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "closings_about" ON "closings" USING btree ("user_id","kind","key_id");--> statement-breakpoint
CREATE INDEX "closings_due_at" ON "closings" USING btree ("due_at");