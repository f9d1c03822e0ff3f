/** What a console shows that has been in use for a while, hostile texts included. */

import { eq } from "drizzle-orm";
import { HOUR, shift } from "../../../src/shared/time/clock.ts";
import { LOCAL_HOST, outbox } from "../../../src/store/schema.ts";
import { audit } from "../../../src/store/schema-audit.ts";
import { webhooks } from "../../../src/store/schema-events.ts";
import { hostProblems } from "../../../src/store/schema-fleet.ts";
import { ssoIdentities } from "../../../src/store/schema-sso.ts";
import { type Client, confirming } from "../../support/app.ts";
import { logDelivery } from "../../support/deliveries.ts";
import { insertHost } from "../../support/host-rows.ts";
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
  /** The host and the group whose pages are looked at. */
  readonly hostId: number;
  readonly groupId: number;
  readonly companyId: number;
  readonly reviewId: number;
}

/** Both sessions on a service where nothing has happened yet. */
export async function signIn(system: ConsoleApp): Promise<Filled> {
  const admin = confirming(await system.admin());
  const { client: user, id: userId } = await system.user("alice");
  return { admin, user, userId, hostId: LOCAL_HOST, groupId: 1, companyId: 1, reviewId: 1 };
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
      full_name: (HOSTILE[index % HOSTILE.length] ?? "").slice(0, 128),
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
  // Removed here, whatever the provider says of them.
  const removed = { issuer: "https://login.example.org", subject: HOSTILE[0], adminId: null, username: "former" };
  await system.db.insert(ssoIdentities).values({ ...removed, createdAt: system.clock.now() });
  await fillWebhooks(system, admin);
  const { client } = await system.user("intruded");
  await done(client.call("POST", "/me/lock"));
  const at = system.clock.now();
  const mail = { recipient: "x@example.org", subject: "", text: "", html: "", createdAt: at, dueAt: shift(at, HOUR) };
  await system.db.insert(outbox).values({ ...mail, attempts: 3, lastError: HOSTILE[0] });
  await done(admin.call("PUT", "/settings", { key: "policy.default_ttl", value: "60d" }));
  await fillCompanies(sessions);
  await fillProfiles(sessions);
  return { ...sessions, hostId: await addHosts(system, sessions), reviewId: await addReview(admin) };
}

/** One of each kind; users have the first, by name. */
async function fillProfiles({ admin, userId }: Filled): Promise<void> {
  const limits = { idle: "30m", max_sessions: 2, second_factor: "verified" };
  for (const profile of [
    { name: "drop-box", kind: "sftp", directory: "/data/acme", umask: "027", ...limits },
    {
      name: "maintenance",
      kind: "shell",
      forwarding: ["db1.example.org:5432"],
      groups: ["docs"],
      sudo: ["restart-web"],
    },
    { name: "spare", kind: "command", command: "deploy", banner: "/etc/issue.net" },
    { name: "to-the-databases", kind: "forward", targets: ["db1.example.org:5432", `${"w".repeat(60)}.example.org:1`] },
  ]) {
    await done(admin.call("POST", "/profiles", profile));
  }
  await done(admin.call("PATCH", `/users/${userId + 6}`, { profile: "drop-box" }));
}

/** One with limits and people, which is the first; one that has ended; the one that the user manages; and others. */
async function fillCompanies({ admin, userId, companyId }: Filled): Promise<void> {
  const limits = { max_users: 20, max_ttl_days: 400, source_networks: ["192.0.2.0/24", "2001:db8::/32"] };
  const more = { contract_end: "2031-06-30T22:00:00Z", sponsor_email: "bo@example.org" };
  await addCompany(admin, { name: "Lindqvist AB", ...limits, ...more });
  const ended = await addCompany(admin, { name: HOSTILE[0] });
  await done(admin.call("POST", `/companies/${ended}/end`));
  await addCompany(admin, { name: HOSTILE[2].slice(0, 128) });
  const own = await addCompany(admin, { name: HOSTILE[1], max_users: 5 });
  for (const id of [userId + 1, userId + 2]) {
    const source_networks = ["192.0.2.0/28"];
    await done(admin.call("PATCH", `/users/${id}`, { company_id: companyId, source_networks }));
  }
  await done(admin.call("PATCH", `/users/${userId}`, { company_id: own, manager: true }));
  for (const id of [userId + 4, userId + 5]) await done(admin.call("PATCH", `/users/${id}`, { company_id: own }));
}

async function addCompany(admin: Client, company: object): Promise<number> {
  const { status, body, text } = await admin.call("POST", "/companies", company);
  if (status !== 201) throw new Error(`the console could not be filled: ${status} ${text}`);
  return body.data.id;
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

/** Hosts in every state, and what can be wrong with them; returns the one with most of it. The user has some of them. */
async function addHosts(system: ConsoleApp, { admin, userId }: Filled): Promise<number> {
  const { clock, db } = system;
  await done(admin.call("POST", "/host-groups", { name: "web", lease: "1h" }));
  await done(admin.call("POST", "/host-groups", { name: "laboratory-without-any-lease", lease: "none" }));
  const hostKeys = JSON.stringify([HOST_KEY]);
  const profiles = JSON.stringify([
    { name: "drop-box", state: "problem", problem: HOSTILE[0] },
    { name: "maintenance", state: "applied", problem: "" },
  ]);
  const web1 = await insertHost(system, "web1", { groups: ["web"], hostKeys, clockOffsetMs: 90_000, profiles });
  await insertHost(system, "web2", { groups: ["web"], hostKeys, appliedId: 1 });
  const silent = { lastSeenAt: shift(clock.now(), -9 * HOUR), leaseUntil: shift(clock.now(), -5 * HOUR) };
  await insertHost(system, "storage-far-away.rechenzentrum-nord.example.org", silent);
  await insertHost(system, "lab", { groups: ["laboratory-without-any-lease"], leaseMs: 0, mode: "sudo", sshHost: "" });
  await insertHost(system, "copied", { status: "locked" });
  await insertHost(system, "leaving", { status: "retiring" });
  const about = { hostId: web1.id, reportedAt: clock.now(), since: shift(clock.now(), -HOUR) };
  await db.insert(hostProblems).values([
    { ...about, account: "ext_alice", kind: "conflict", text: "The uid 60007 belongs to bob" },
    { ...about, account: "ext_contractor-3", kind: "refused", text: HOSTILE[2] },
    { ...about, account: "", kind: "finding", text: HOSTILE[0] },
  ]);
  await done(admin.call("PUT", `/users/${userId}/hosts`, { hosts: ["lab", "copied"], groups: ["default", "web"] }));
  return web1.id;
}

/** A review of which one is answered, one may wait, and some have a sponsor who is asked. */
async function addReview(admin: Client): Promise<number> {
  for (const id of [3, 4])
    await done(admin.call("PATCH", `/users/${id}`, { sponsor_email: "bo.lindqvist@example.com" }));
  const answer = await admin.call("POST", "/reviews", { scope: "all", due_days: 10 });
  await done(Promise.resolve(answer));
  const { id, due_at: until } = answer.body.data;
  await done(admin.call("POST", `/reviews/${id}/items/5`, { answer: "keep", reason: HOSTILE[0] }));
  await done(admin.call("POST", `/reviews/${id}/items/7`, { answer: "grace", until }));
  return id;
}

const HOST_KEY = {
  type: "ssh-ed25519",
  base64: "AAAAC3NzaC1lZDI1NTE5AAAAILaNJJBGzPmkiX3Z160Q00v6FSEYUOHcfhr2QsREXeNz",
  fingerprint: "SHA256:1B3UCMmezYP6HYhhuY+m0z7uZ8sRqIYhPHcUh9W9eKA",
};

async function done(answer: ReturnType<Client["call"]>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`the console could not be filled: ${status} ${text}`);
}
