CREATE TABLE "terms" (
	"version" text PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "terms_answers" (
	"user_id" bigint PRIMARY KEY NOT NULL,
	"accepted" text DEFAULT '' NOT NULL,
	"accepted_at" timestamp (3) with time zone,
	"mailed" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
ALTER TABLE "terms_answers" ADD CONSTRAINT "terms_answers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;