/**
 * The service killed while it changes a profile, or gives or takes one, by a real sshd: after the next start the account may do what is stored and
 * nothing else, and what is stored is the change as a whole or nothing of it. One step of each change here; `bun run test:long profiles` dies at all.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { createProfile } from "../../../src/domain/profiles/profiles.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { readProcess } from "../../../src/host/processes/processes.ts";
import type { HostProfile } from "../../../src/protocol/profile.ts";
import { withoutPrefix } from "../../../src/shared/text/account-name.ts";
import { FAULT_VARIABLE, type Fault } from "../../../src/shared/work/fault-point.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import {
  base,
  directHost,
  GROUP,
  NAME,
  prepareHost,
  RUN,
  running,
  sshd,
  stored,
  UID,
} from "../../support/direct-host.ts";
import { describeOnHost, testSettings } from "../../support/host-account.ts";
import { startHostAs } from "../../support/host-client.ts";
import { forgetProfiles, profiledSettings, profiledSshd } from "../../support/profiled-host.ts";
import { startSleeper } from "../../support/sleeper.ts";
import { PATIENT } from "../../support/sshd.ts";
import { until } from "../../support/until.ts";
import { change, openService, type Place, type Stored, type Subject, type Work } from "./crash/service.ts";

const PROFILE = `t${RUN}-tunnel`;
const SERVICE = join(import.meta.dir, "crash/service.ts");
/** Of each change: three processes and a dozen logins each. */
const STEPS = Number(process.env.UAM_TEST_STEPS ?? "1");

describeOnHost("a profile is changed, and the service dies", () => {
  prepareHost(profiledSshd);

  /** What an account may do of all that is tried: a shell, and connections to either of two programs. */
  type Deed = "shell" | "one" | "other";
  let doors: Readonly<Record<"one" | "other", ReturnType<typeof listen>>>;
  const target = (door: "one" | "other") => `127.0.0.1:${doors[door].port}`;
  let database: TestDatabase;
  let place: Place;
  let service: Awaited<ReturnType<typeof openService>>;
  let subject: Subject;
  let key = "";
  const settings = () =>
    testSettings({ mode: "direct", homeBase: base, markerGroup: GROUP, ...profiledSettings(base, sshd.config) });

  beforeAll(async () => {
    doors = { one: listen("one"), other: listen("other") };
    database = await createTestDatabase();
    const data = join(base, "data");
    mkdirSync(data, { mode: 0o700 });
    place = { connection: database.connection, settings: settings(), uids: `${UID}-${UID + 9}`, data };
    service = await openService(place);
  });
  afterAll(async () => {
    await service?.close();
    await database?.drop();
    for (const door of Object.values(doors ?? {})) door.stop(true);
    forgetProfiles(PROFILE, `t${RUN}-shown`);
  });

  const [ONE, BOTH, OTHER] = [() => [target("one")], () => [target("one"), target("other")], () => [target("other")]];
  const CHANGES: readonly (readonly [what: string, from: () => Stored, to: () => Stored, action: string])[] = [
    ["is given", () => ({ bound: false, targets: ONE() }), () => ({ bound: true, targets: ONE() }), "user.update"],
    [
      "allows less",
      () => ({ bound: true, targets: BOTH() }),
      () => ({ bound: true, targets: ONE() }),
      "profile.update",
    ],
    [
      "allows something else",
      () => ({ bound: true, targets: ONE() }),
      () => ({ bound: true, targets: OTHER() }),
      "profile.update",
    ],
    [
      "allows more",
      () => ({ bound: true, targets: ONE() }),
      () => ({ bound: true, targets: BOTH() }),
      "profile.update",
    ],
    ["is taken back", () => ({ bound: true, targets: ONE() }), () => ({ bound: false, targets: ONE() }), "user.update"],
  ];

  test("at any step: what is stored holds after the next start, as a whole, and is on record", async () => {
    const { context } = service;
    const made = sshd.makeKey(91);
    key = made.path;
    await createProfile(context, { name: PROFILE, kind: "forward", targets: ONE() });
    const username = withoutPrefix(NAME);
    const { id } = await createUser(context, { username, email: `${username}@example.org` });
    await uploadKey(context, id, { name: "laptop", publicKey: readFileSync(`${key}.pub`, "utf8") });
    subject = { id, profile: PROFILE };
    expect(await may()).toEqual(["one", "other", "shell"]);
    const faults: string[] = [];
    for (const [what, from, to, action] of CHANGES) {
      const steps = await stepsOf(from(), to());
      expect(steps.length).toBeGreaterThan(3);
      const every = Math.max(1, Math.ceil(steps.length / STEPS));
      const drawn = steps.filter((_, index) => index % every === Math.floor(every / 2));
      console.log(`the service dies at ${drawn.length} of ${steps.length} steps: a profile ${what}`);
      for (const fault of drawn) {
        const found = await dieAt(fault, { from: from(), to: to(), action });
        faults.push(...found.map((one) => `${what}, ${JSON.stringify(fault)}: ${one}`));
      }
    }
    expect(faults).toEqual([]);
  }, 3_600_000);

  /** The points that the change passes, in their order. */
  async function stepsOf(from: Stored, to: Stored): Promise<readonly Fault[]> {
    const into = join(base, "trace");
    rmSync(into, { force: true });
    await reset(from);
    await runService({ place, subject, from, to, fault: { action: "trace", into } });
    const passes = new Map<string, number>();
    return readFileSync(into, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((point) => {
        const nth = (passes.get(point) ?? 0) + 1;
        passes.set(point, nth);
        return { point, nth, action: "kill" } as Fault;
      });
  }

  /** What is wrong after a death there and the next start, in sentences. */
  async function dieAt(
    fault: Fault,
    { from, to, action }: { readonly from: Stored; readonly to: Stored; readonly action: string },
  ): Promise<readonly string[]> {
    const { context } = service;
    await reset(from);
    // What was begun with all that the account may do now, and is not to outlive that.
    const isTaken = !mayOf(from).every((deed) => mayOf(to).includes(deed));
    const begun = isTaken ? await startSleeper(UID) : undefined;
    const since = await lastRecord(context);
    const signal = await runService({ place, subject, from, to, fault });
    const between = await may();
    const startSignal = await runService({ place, start: true });
    const now = await storedNow(context);
    const isDone = same(now, to);
    const after = await may();
    const records = await recordsOf(context, action, since);
    const left = (await reconcileHost(context, place.data, "check")).map(({ account, kind }) => `${account} ${kind}`);
    const [owed] = await context.db.execute<{ count: string }>("select count(*) from closings");
    const most = [...new Set([...mayOf(from), ...mayOf(to)])];
    return [
      ...(signal === "SIGKILL" ? [] : ["it did not die there"]),
      ...(startSignal === null ? [] : [`the next start ended by ${startSignal}`]),
      ...(isDone || same(now, from) ? [] : [`half of it is stored: ${JSON.stringify(now)}`]),
      ...(between.every((deed) => most.includes(deed)) ? [] : [`meanwhile they may ${between.join()}`]),
      ...(after.join() === mayOf(now).join() ? [] : [`stored is ${mayOf(now).join()}, they may ${after.join()}`]),
      ...(records === (isDone ? 1 : 0) ? [] : [`${isDone ? "stored" : "not stored"}, and ${records} times on record`]),
      ...(isDone && readProcess(begun?.pid ?? 0) !== undefined ? ["what was begun before goes on"] : []),
      ...(left.length === 0 ? [] : [`the host differs: ${left.join()}`]),
      ...(Number(owed?.count) === 0 ? [] : [`${owed?.count} closings are left`]),
    ];
  }

  /** Everything as it was before the change, by the service itself. */
  async function reset(to: Stored): Promise<void> {
    await change(service.context, subject, await storedNow(service.context), to);
    for (const _ of [1, 2]) if (running() > 0) Bun.spawnSync(["pkill", "-KILL", "-U", String(UID)]);
    await until(() => running() === 0);
  }

  /** Ends with the signal that ended it. */
  async function runService(work: Work): Promise<string | null> {
    const fault = join(base, "fault");
    const child = Bun.spawn([process.execPath, SERVICE, JSON.stringify(work)], {
      env: { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", [FAULT_VARIABLE]: fault },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const said = await new Response(child.stderr).text();
    await child.exited;
    if (existsSync(fault)) rmSync(fault);
    if (child.signalCode === null && child.exitCode !== 0) throw new Error(said);
    return child.signalCode === null ? null : String(child.signalCode);
  }

  async function storedNow({ db }: Context): Promise<Stored> {
    const [row] = await db.execute<{ bound: boolean; targets: string[] }>(
      `select u.profile is not null as bound, to_json(p.targets) as targets from users u, profiles p where u.id = ${subject.id} and p.name = '${PROFILE}'`,
    );
    return { bound: row?.bound ?? false, targets: row?.targets ?? [] };
  }

  async function lastRecord({ db }: Context): Promise<number> {
    const [row] = await db.execute<{ id: string }>("select coalesce(max(id), 0) as id from audit");
    return Number(row?.id);
  }

  async function recordsOf({ db }: Context, action: string, since: number): Promise<number> {
    const [row] = await db.execute<{ count: string }>(
      `select count(*) from audit where id > ${since} and action = '${action}' and result = 'success'`,
    );
    return Number(row?.count);
  }

  function same(one: Stored, other: Stored): boolean {
    return JSON.stringify(one) === JSON.stringify(other);
  }

  function mayOf({ bound, targets }: Stored): readonly Deed[] {
    const reached = (["one", "other"] as const).filter((door) => !bound || targets.includes(target(door)));
    return [...reached, ...(bound ? [] : (["shell"] as const))];
  }

  /** By a real client; in the order of `mayOf`. */
  async function may(): Promise<readonly Deed[]> {
    const said = await Promise.all([
      ...(["one", "other"] as const).map((door) => client("-W", target(door))),
      client("-T", ":", "echo shell"),
    ]);
    return said.flatMap((text) => (/^(?:one|other|shell)$/.test(text.trim()) ? [text.trim() as Deed] : []));
  }

  /** What ssh prints; ":" stands for the account's place among the arguments, which else is the last. */
  async function client(...given: readonly string[]): Promise<string> {
    const options = ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR"];
    const to = ["-o", "UserKnownHostsFile=/dev/null", "-i", key, "-p", String(sshd.port)];
    const at = given.indexOf(":");
    const [before, after] = at === -1 ? [given, []] : [given.slice(0, at), given.slice(at + 1)];
    const argv = ["ssh", ...options, ...PATIENT, ...to, ...before, `${NAME}@127.0.0.1`, ...after];
    const child = Bun.spawn(argv, { stdio: ["ignore", "pipe", "ignore"] });
    const text = await new Response(child.stdout).text();
    await child.exited;
    return text;
  }

  test("sshd is told again what another process has told it otherwise since, though the file was the same before", async () => {
    const made = sshd.makeKey(92);
    key = made.path;
    const name = `t${RUN}-shown`;
    const tunnel: HostProfile = { name, kind: "forward", targets: ONE(), secondFactor: "none" };
    const wide: HostProfile = { name, kind: "forward", targets: BOTH(), secondFactor: "none" };
    const applied = [{ name, state: "applied" as const }];
    const host = await directHost(profiledSettings(base, sshd.config));
    expect(await host.holdProfiles([tunnel], "give")).toEqual(applied);
    const account = stored({ keys: [made.key], profile: name });
    await host.createAccount(account);
    await host.openAccount(account);
    expect(await may()).toEqual(["one"]);
    const other = startHostAs("root", settings());
    try {
      expect(await other.holdProfiles([wide], "give")).toEqual(applied);
      expect(await may()).toEqual(["one", "other"]);
      expect(await host.holdProfiles([tunnel], "take")).toEqual(applied);
      expect(await may()).toEqual(["one"]);
    } finally {
      other.stop();
    }
  });
});

/** A program that says its name to whoever connects. */
function listen(name: string) {
  const open = (socket: { end: (text: string) => unknown }) => void socket.end(`${name}\n`);
  return Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { open, data: () => {} } });
}
