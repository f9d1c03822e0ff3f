/** What a console shows that has been in use for a while, hostile texts included. */

import { eq } from "drizzle-orm";
import { HOUR, shift } from "../../../src/shared/clock.ts";
import { audit } from "../../../src/store/schema-audit.ts";
import { webhooks } from "../../../src/store/schema-events.ts";
import type { Client } from "../../support/app.ts";
import { logDelivery } from "../../support/deliveries.ts";
import { freshKey } from "../../support/keys.ts";
import type { ConsoleApp } from "./console-app.ts";

/** Texts that try to leave their place: markup, a right-to-left word, one long word, many marks. */
export const HOSTILE = [
  `<img src=x onerror="fetch('https://evil.example/')"><script>alert(1)</script>`,
  "مهندس <b>בדיקה</b> end",
  "W".repeat(900),
  `Z${"\u0301".repeat(200)}algo`,
] as const;

/** Sessions to look at the pages with. */
export interface Filled {
  readonly admin: Client;
  readonly user: Client;
  readonly userId: number;
}

/** Both sessions on a service where nothing has happened yet. */
export async function signIn(system: ConsoleApp): Promise<Filled> {
  const admin = await system.admin();
  const { client: user, id: userId } = await system.user("alice");
  return { admin, user, userId };
}

/** Users in every state, keys, applications, and a trail. */
export async function fill(system: ConsoleApp): Promise<Filled> {
  const sessions = await signIn(system);
  const { admin, user } = sessions;
  await done(user.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() }));
  await done(user.call("POST", "/me/keys", { name: HOSTILE[0].slice(0, 64), public_key: freshKey() }));
  for (let index = 1; index <= 24; index++) {
    const answer = await admin.call("POST", "/users", {
      username: `contractor-${index}`,
      email: `contractor-${index}@example.org`,
      supervisor: index % 3 === 0 ? "Bo Lindqvist" : "Ada Meier",
      purpose: HOSTILE[index % HOSTILE.length] ?? "",
      ttl_days: index * 4,
    });
    await done(Promise.resolve(answer));
    if (index % 5 === 0) await done(admin.call("POST", `/users/${answer.body.data.id}/disable`));
  }
  for (const [index, purpose] of HOSTILE.entries()) {
    const applicant = { username: `applicant-${index}`, email: `applicant-${index}@example.org`, purpose };
    await done(system.anonymous().call("POST", "/approvals", { ...applicant, supervisor: "Bo Lindqvist" }));
  }
  for (const name of ["nightly report", HOSTILE[1], HOSTILE[0].slice(0, 64)]) {
    await done(admin.call("POST", "/tokens", { name, role: "auditor", days: 30, networks: ["192.0.2.0/24"] }));
  }
  await fillWebhooks(system, admin);
  await done(admin.call("PUT", "/settings", { key: "policy.default_ttl", value: "60d" }));
  return sessions;
}

/** One that fails, one that is switched off, and one with a hostile address; nobody answers at any. */
async function fillWebhooks(system: ConsoleApp, admin: Client): Promise<void> {
  const urls = [
    "https://hooks.invalid/uam",
    "https://off.invalid/",
    `https://long.invalid/${"x".repeat(900)}?<b>&\u202e`,
  ];
  for (const url of urls)
    await done(admin.call("POST", "/webhooks", { url, actions: url.includes("off") ? ["user.create"] : [] }));
  await done(admin.call("PATCH", "/webhooks/2", { status: "disabled" }));
  const { db, clock } = system;
  const failing = {
    failures: 4,
    failingSince: shift(clock.now(), -2 * HOUR),
    lastError: "The receiver answered 503",
    deliveredAt: clock.now(),
  };
  await db.update(webhooks).set(failing).where(eq(webhooks.id, 1));
  const [record] = await db.select().from(audit).limit(1);
  if (record === undefined) throw new Error("there is no record");
  await logDelivery(db, 1, record, "");
  await logDelivery(db, 1, record, "The receiver answered 503", 2);
}

async function done(answer: ReturnType<Client["call"]>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`the console could not be filled: ${status} ${text}`);
}
