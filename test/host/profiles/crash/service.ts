/**
 * The service on a database that is there, with a host of the test's own: changes profiles, or starts again after such a change was cut short.
 * As a process it does one of both, and may die on the way.
 */

import { writeFileSync } from "node:fs";
import { readConfig } from "../../../../src/config/config.ts";
import { createSeal } from "../../../../src/domain/audit/seal.ts";
import { createPasswordHasher } from "../../../../src/domain/auth/administrators/passwords.ts";
import { reconcileHost } from "../../../../src/domain/lifecycle/reconcile.ts";
import type { Context } from "../../../../src/domain/operation/context.ts";
import { updateProfile } from "../../../../src/domain/profiles/update.ts";
import { updateUser } from "../../../../src/domain/users/update.ts";
import { createHost } from "../../../../src/host/create-host.ts";
import type { HostSettings } from "../../../../src/host/settings.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { policyOf } from "../../../../src/server/compose.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { systemClock } from "../../../../src/shared/time/clock.ts";
import { FAULT_VARIABLE, type Fault } from "../../../../src/shared/work/fault-point.ts";
import { type ConnectionOptions, openDatabase } from "../../../../src/store/client.ts";
import { TEST_KEY } from "../../../support/audit-log.ts";

/** What a service of the test needs; plain data. */
export interface Place {
  readonly connection: ConnectionOptions;
  readonly settings: HostSettings;
  readonly uids: string;
  /** A directory for what a service keeps. */
  readonly data: string;
}

/** What is stored of the profile, and whether the user has it. */
export interface Stored {
  readonly bound: boolean;
  readonly targets: readonly string[];
}

/** The one user, and the profile. */
export interface Subject {
  readonly id: number;
  readonly profile: string;
}

/** A process's work: a change, with what is to befall it, or a start. */
export type Work = { readonly place: Place } & (
  | { readonly subject: Subject; readonly from: Stored; readonly to: Stored; readonly fault: Fault }
  | { readonly start: true }
);

export async function openService({ connection, settings, uids, data }: Place): Promise<{
  readonly context: Context;
  readonly close: () => Promise<void>;
}> {
  const main = openDatabase(connection, 4);
  const autocommit = openDatabase(connection, 2);
  const variables = { UAM_DATA_DIR: data, UAM_HOST_MODE: "direct", UAM_UID_RANGE: uids };
  const config = readConfig(variables, { isRoot: true, currentDirectory: "/" });
  const context: Context = {
    ...{ db: main.db, autocommit: autocommit.db, clock: systemClock, log: silentLog, seal: createSeal(TEST_KEY) },
    host: await createHost(settings, silentLog, bunRuntime),
    hasher: createPasswordHasher({}, { password: 256, code: 256 }),
    policy: policyOf(config),
    ...{ actor: { type: "cli", name: "operator", ip: "" }, requestId: "" },
  };
  return { context, close: async () => void (await Promise.all([main.close(), autocommit.close()])) };
}

/** From the one to the other, as an administrator does it. */
export async function change(context: Context, { id, profile }: Subject, from: Stored, to: Stored): Promise<void> {
  if (from.bound !== to.bound) await updateUser(context, id, { profile: to.bound ? profile : null });
  if (from.targets.join() !== to.targets.join()) await updateProfile(context, profile, { targets: to.targets });
}

async function work(given: Work): Promise<void> {
  const { context, close } = await openService(given.place);
  if ("start" in given) await reconcileHost(context, given.place.data, "repair at once");
  else {
    // Only now: to open the host takes steps, too.
    writeFileSync(process.env[FAULT_VARIABLE] ?? "", JSON.stringify(given.fault));
    await change(context, given.subject, given.from, given.to);
  }
  await close();
}

if (import.meta.main) await work(JSON.parse(process.argv[2] ?? "") as Work);
