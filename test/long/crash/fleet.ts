/** A service without a host of its own, and a host with an agent: each may die, and the database, and pairs of them. */

import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findIdentity, readKeys } from "../../../src/agent/store.ts";
import { accountAt } from "../../../src/domain/accounts/account.ts";
import { selectUsers } from "../../../src/domain/accounts/find-user.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { createJoinToken } from "../../../src/domain/wire/join-tokens.ts";
import { createHost } from "../../../src/host/create-host.ts";
import type { HostSettings } from "../../../src/host/settings.ts";
import { publicBytes, signingKey } from "../../../src/protocol/fleet-signature.ts";
import type { Account } from "../../../src/protocol/host.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { closings, sshKeys } from "../../../src/store/schema.ts";
import type { DriverSettings } from "../../support/agent-driver.ts";
import { testSettings } from "../../support/host-account.ts";
import { DEEDS, type Deed } from "./deeds.ts";
import { strays } from "./verdict.ts";
import { makeWorld, outputOf, type World, type WorldOptions } from "./world.ts";

export interface Fleet {
  readonly world: World;
  /** Undefined while it does not run. */
  readonly agent: () => ChildProcess | undefined;
  /** Starts it if it does not run. */
  startAgent(timing?: Record<string, number>): void;
  killAgent(): Promise<void>;
  /** What of the agent's host is not as the service has it stored. */
  disagreement(context: Context): Promise<readonly string[]>;
  end(): Promise<void>;
}

const SUPPORT = join(import.meta.dir, "../../support");
const TIMING = { wait: 1000, patience: 3000, reconcile: 1000, retry: 200, longest: 500 };

export async function makeFleet(options: Omit<WorldOptions, "hostMode">): Promise<Fleet> {
  const world = await makeWorld({ ...options, hostMode: "agents" });
  const directory = join(world.directory, "agent");
  const run = join(world.directory, "run");
  for (const path of [directory, run]) mkdirSync(path, { mode: 0o700 });
  const skew = join(world.directory, "skew");
  writeFileSync(skew, "0");
  writeFileSync(join(world.directory, "revoked"), "# none\n");
  const host: HostSettings = testSettings({
    mode: "direct",
    homeBase: world.base,
    markerGroup: `uam-ext-${world.prefix}`,
  });
  const files = { directory: run, target: join(world.directory, "revoked") };
  let agent: ChildProcess | undefined;
  let gone: Promise<unknown> = Promise.resolve();

  const fleet: Fleet = {
    world,
    agent: () => agent,
    startAgent: (timing = {}) => {
      if (agent !== undefined) return;
      const settings: DriverSettings = { directory, files, host, skew, timing: { ...TIMING, ...timing } };
      const started = world.launch([process.execPath, join(SUPPORT, "agent-driver.ts"), JSON.stringify(settings)]);
      agent = started;
      gone = outputOf(started).then(() => {
        if (agent === started) agent = undefined;
      });
    },
    killAgent: async () => {
      agent?.kill("SIGKILL");
      await gone;
    },
    disagreement: async (context) => {
      const opened = await createHost(host, silentLog, bunRuntime);
      const accounts = await accountsOf(context);
      // Whoever is disabled before the agent heard of them gets no account, until they are enabled.
      const shutNames = new Set(accounts.filter(({ open }) => !open).map(({ name }) => name));
      const all = await opened.reconcile(accounts, true);
      const drifts = all.filter(({ kind, account }) => kind !== "missing" || !shutNames.has(account));
      const shut = existsSync(join(run, "revoked-keys")) ? [] : ["the host has no lease"];
      return [
        ...drifts.map((drift) => `the host differs: ${JSON.stringify(drift)}`),
        ...shut,
        ...(await strays(world)),
      ];
    },
    end: async () => {
      await fleet.killAgent();
      await world.end();
      Bun.spawnSync(["groupdel", host.markerGroup]);
    },
  };
  const { line } = await createJoinToken(await world.context(), { group: "default", name: "web1" });
  const joining = world.launch([process.execPath, join(SUPPORT, "join-driver.ts"), directory, line, "web1"]);
  const said = await outputOf(joining);
  if (joining.exitCode !== 0) throw new Error(`the host could not join: ${said}`);
  fleet.startAgent();
  return fleet;
}

/** As they are to be on each host. */
async function accountsOf({ db, clock }: Context): Promise<readonly Account[]> {
  const keys = await db.select().from(sshKeys);
  const owed = await db.select().from(closings);
  return (await selectUsers(db)).map((user) =>
    accountAt(clock.now(), user, {
      keys: keys.filter(({ userId, status }) => userId === user.id && status === "active").sort((a, b) => a.id - b.id),
      owed: owed.filter(({ userId }) => userId === user.id),
    }),
  );
}

/** What is done to a host, and what is wrong with it afterwards. */
export interface HostDeed {
  readonly act: (fleet: Fleet) => Promise<unknown>;
  readonly settle: (fleet: Fleet) => Promise<readonly string[]>;
}

const { create, upload, revoke, disable, enable, extend, shorten, narrow, widen } = DEEDS as Record<string, Deed>;

/** What changes something on the agent's host. */
export const FLEET_DEEDS = {
  create,
  upload,
  revoke,
  disable,
  enable,
  extend,
  shorten,
  delete: DEEDS.delete,
  narrow,
  widen,
} as Readonly<Record<string, Deed>>;

/** The host that has the agent: the service's own is the first, and the second has none. */
const HOST = "(select id from hosts where name = 'web1')";
let joined = 0;

export const HOST_DEEDS: Readonly<Record<string, HostDeed>> = {
  "lock the host": {
    act: async ({ world }) => {
      const [row] = await world.sql(`select ${HOST} as id`);
      return await world.call("POST", `/hosts/${row?.id}/lock`, world.admin());
    },
    settle: async ({ world }) => {
      const [row] = await world.sql(`select ${HOST} as id`);
      const lock = await world.call("POST", `/hosts/${row?.id}/lock`, world.admin());
      const answer = await world.call("POST", `/hosts/${row?.id}/unlock`, world.admin());
      return answer?.status === 200 ? [] : [`it cannot be unlocked: ${JSON.stringify([lock, answer])}`];
    },
  },
  "a new key": {
    act: async (fleet) => {
      await fleet.killAgent();
      fleet.startAgent({ rotate: 1 });
      await Bun.sleep(1000);
    },
    // Whichever key it has by now, the service lets it in: that shows in the agreement.
    settle: async () => [],
  },
  join: {
    act: async ({ world }) => await joinAs(world, `web-${++joined}`),
    settle: async ({ world }) => {
      const directory = join(world.directory, `web-${joined}`);
      const identity = existsSync(directory) ? findIdentity(directory) : undefined;
      // Begun and not finished, it begins anew.
      if (identity === undefined) return await joinAs(world, `web-${++joined}`);
      const { present } = readKeys(directory);
      if (present === undefined) return ["it knows whom it joined, and has no key"];
      const key = Buffer.from(publicBytes(signingKey(present))).toString("hex");
      const rows = await world.sql(
        `select 1 from hosts where id = ${identity.host_id} and encode(public_key, 'hex') = '${key}'`,
      );
      return rows.length === 1 ? [] : ["it has a key that the service does not know"];
    },
  },
};

/** Joins another host of that name; what went wrong. */
async function joinAs(world: World, name: string): Promise<readonly string[]> {
  const { line } = await createJoinToken(await world.context(), { name });
  const directory = join(world.directory, name);
  const child = world.launch([process.execPath, join(SUPPORT, "join-driver.ts"), directory, line, name]);
  const said = await outputOf(child);
  return child.exitCode === 0 ? [] : [`it could not join: ${said}`];
}
