CREATE TABLE "account_intents" (
	"uid" integer PRIMARY KEY NOT NULL,
	"name" text NOT NULL
);
