ALTER TABLE "profiles" ADD COLUMN "attestation" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "ssh_keys" ADD COLUMN "model" text;--> statement-breakpoint
ALTER TABLE "ssh_keys" ADD COLUMN "aaguid" text;--> statement-breakpoint
ALTER TABLE "profiles" ADD CONSTRAINT "profiles_attestation" CHECK ("profiles"."attestation" = 'none' or ("profiles"."attestation" = 'required' and "profiles"."second_factor" = 'verified'));