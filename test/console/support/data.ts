/** What a console shows that has been in use for a while, hostile texts included. */

import type { Client } from "../../support/app.ts";
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
  await done(admin.call("PUT", "/settings", { key: "policy.default_ttl", value: "60d" }));
  return sessions;
}

async function done(answer: ReturnType<Client["call"]>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`the console could not be filled: ${status} ${text}`);
}
