CREATE TABLE "sso_identities" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sso_identities_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"admin_id" bigint,
	"username" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "sso_identities_subject" UNIQUE("issuer","subject")
);
--> statement-breakpoint
CREATE TABLE "sso_logins" (
	"state_hash" "bytea" PRIMARY KEY NOT NULL,
	"browser_hash" "bytea" NOT NULL,
	"nonce" text NOT NULL,
	"verifier" text NOT NULL,
	"next" text NOT NULL,
	"replaces_hash" "bytea",
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sso_logouts" (
	"token_hash" "bytea" PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"subject" text,
	"sid" text,
	"issued_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sso_sessions" (
	"token_hash" "bytea" PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"sid" text
);
--> statement-breakpoint
ALTER TABLE "admins" ADD COLUMN "sso" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "sso_identities" ADD CONSTRAINT "sso_identities_admin_id_admins_id_fk" FOREIGN KEY ("admin_id") REFERENCES "public"."admins"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sso_sessions" ADD CONSTRAINT "sso_sessions_token_hash_sessions_token_hash_fk" FOREIGN KEY ("token_hash") REFERENCES "public"."sessions"("token_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sso_identities_admin" ON "sso_identities" USING btree ("admin_id");--> statement-breakpoint
CREATE INDEX "sso_logins_expires_at" ON "sso_logins" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sso_logouts_expires_at" ON "sso_logouts" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sso_sessions_subject" ON "sso_sessions" USING btree ("issuer","subject");--> statement-breakpoint
CREATE INDEX "sso_sessions_sid" ON "sso_sessions" USING btree ("issuer","sid");