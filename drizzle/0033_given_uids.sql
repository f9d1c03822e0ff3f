CREATE TABLE "given_uids" (
	"uid" integer PRIMARY KEY NOT NULL,
	"stray_at" timestamp (3) with time zone
);
--> statement-breakpoint
-- Those of before: of accounts that are there, half made, being removed, or deleted, as far as the audit log goes back.
INSERT INTO "given_uids" ("uid")
	SELECT "uid" FROM "accounts" UNION SELECT "uid" FROM "account_intents" UNION SELECT "uid" FROM "removed_accounts"
	UNION SELECT substring("detail" from '"uid":([1-9][0-9]{3,8})[,}]')::integer FROM "audit"
	WHERE hashtextextended("action", 0) IN (hashtextextended('user.delete', 0), hashtextextended('lifecycle.recycle', 0))
		AND "action" IN ('user.delete', 'lifecycle.recycle') AND "result" = 'success'
		AND "detail" ~ '"uid":[1-9][0-9]{3,8}[,}]';
