/** A host in a process of its own, for another user: reads calls as JSON lines, writes their results. Run by host-client.ts. */

import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createHost } from "../../src/host/create-host.ts";
import { checkSudo } from "../../src/host/execute/sudo-check.ts";
import type { HostSettings } from "../../src/host/settings.ts";
import type { Account, Host, Purpose } from "../../src/protocol/host.ts";
import type { HostProfile } from "../../src/protocol/profile.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { UamError } from "../../src/shared/errors.ts";
import { recordingLog, testSettings } from "./host-account.ts";
import { until } from "./until.ts";

const settings = testSettings(JSON.parse(process.argv[2] ?? "{}") as Partial<HostSettings>);
const { log, lines } = recordingLog();
let host: Promise<Host> | undefined;

async function call(method: string, args: readonly unknown[]): Promise<unknown> {
  if (method === "check")
    return await checkSudo(
      settings,
      bunRuntime.program,
      args[0] === undefined ? undefined : () => heldBy(String(args[0])),
    );
  if (method === "log") return lines;
  host ??= createHost(settings, log, bunRuntime);
  const made = await host;
  switch (method) {
    case "presence":
      return await made.presence(account(args[0]));
    case "nameTaken":
      return await made.nameTaken(String(args[0]));
    case "createAccount":
      return await made.createAccount(account(args[0]));
    case "writeKeys":
      return await made.writeKeys(account(args[0]));
    case "openAccount":
      return await made.openAccount(account(args[0]));
    case "shutAccount":
      return await made.shutAccount(account(args[0]));
    case "takeKey":
      return await made.takeKey(account(args[0]), String(args[1]));
    case "narrowKeys":
      return await made.narrowKeys(account(args[0]));
    case "shortenAccount":
      return await made.shortenAccount(account(args[0]));
    case "narrowProfile":
      return await made.narrowProfile(account(args[0]));
    case "holdProfiles":
      return await made.holdProfiles(args[0] as HostProfile[], args[1] as Purpose);
    case "removeAccount":
      return await made.removeAccount(account(args[0]));
    case "reconcile":
      return await made.reconcile((args[0] as unknown[]).map(account), args[1] === true);
    case "orphanUids":
      return await made.orphanUids();
    case "endStrays":
      return await made.endStrays(args[0] as number[], args[1] === true);
    case "sessions":
      return await made.sessions(account(args[0]));
    case "endSession":
      return await made.endSession(account(args[0]), String(args[1]));
    case "logins":
      return await made.logins(String(args[0]));
    case "refusals":
      return await made.refusals(account(args[0]));
    case "loginFaults":
      return await made.loginFaults(account(args[0]));
    default:
      throw new Error(`no such method: ${method}`);
  }
}

/** Makes the file, and waits until somebody has removed it. */
async function heldBy(file: string): Promise<void> {
  writeFileSync(file, "");
  await until(() => !existsSync(file));
}

function account(value: unknown): Account {
  const { expireAt, ...rest } = value as Account & { readonly expireAt: string };
  return { ...rest, expireAt: new Date(expireAt) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, args } = JSON.parse(line) as { id: number; method: string; args: unknown[] };
  void call(method, args)
    .then((value) => ({ id, value }))
    .catch((error: unknown) => ({
      id,
      error: {
        code: error instanceof UamError ? error.code : "",
        message:
          error instanceof Error ? (error instanceof UamError ? error.message : `${error.stack}`) : String(error),
      },
    }))
    .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));
}
