/** Accounts and settings for tests of the host. */

import { afterAll, beforeAll, describe } from "bun:test";
import { renderAuthorizedKeys } from "../../src/host/key-file/authorized-keys.ts";
import type { HostSettings } from "../../src/host/settings.ts";
import type { Account } from "../../src/protocol/host.ts";
import { type Log, type LogFields, type LogLevel, silentLog } from "../../src/shared/log.ts";
import { type DataLock, openDataLock } from "../../src/store/postgres/data-lock.ts";

/** Real accounts are created only on request, and only as root. */
const mayChangeHost = process.env.UAM_TEST_HOST === "1" && process.geteuid?.() === 0;

const LOCK = "/run/uam-host-tests.lock";
/** Held by the one who is next: whoever has just had the lock cannot take it again before them. */
const NEXT = "/run/uam-host-tests-next.lock";
/** How long to wait for the other host tests on this machine, in milliseconds. */
const PATIENCE = 15 * 60_000;

/**
 * `describe` for tests that create accounts, skipped if they may not or, if told so, cannot run. Account names are fixed: one
 * file at a time on a machine; the lock ends with the process.
 */
export function describeOnHost(name: string, tests: () => void, isPossible: () => boolean = () => true): void {
  describe.if(mayChangeHost && isPossible())(name, () => {
    let turn: DataLock | undefined;
    beforeAll(async () => {
      const deadline = performance.now() + PATIENCE;
      const next = await taken(NEXT, deadline);
      turn = await taken(LOCK, deadline).finally(() => next.close());
    }, PATIENCE + 5000);
    tests();
    // Hooks run in the order of their definition: this is the last.
    afterAll(() => turn?.close());
  });
}

async function taken(path: string, deadline: number): Promise<DataLock> {
  const lock = openDataLock(path);
  while (!lock.tryExclusive()) {
    if (performance.now() > deadline) {
      lock.close();
      throw new Error(`other host tests hold ${path}`);
    }
    await Bun.sleep(100);
  }
  return lock;
}

export const EXPIRE_AT = new Date("2031-03-04T12:00:00Z");

export function testSettings(overrides: Partial<HostSettings> = {}): HostSettings {
  return {
    mode: "dry-run",
    homeBase: "/home",
    shell: "/bin/bash",
    groups: [],
    markerGroup: "uam-ext",
    authorizedKeysFile: "%h/.ssh/authorized_keys",
    revokeEnds: "key",
    ...overrides,
  };
}

/** A public key whose private half nobody has. */
const BASE64 = "AAAAC3NzaC1lZDI1NTE5AAAAIFBr/dqzta2r51dmoGYcCCUUz9/JwQPGUaIvDOjL9QKs";
const FINGERPRINT = "SHA256:LMtNT4ZVS3oBOs14Rk+nNQ/6CKP7t1wWqJNCWH3LIfU";

/** What an account's file holds on this machine, whose OpenSSH is 9.1 or later. */
export function fileOf(account: Account): string {
  return renderAuthorizedKeys(account.keys, account.expireAt, { kind: "utc" });
}

export function testAccount(overrides: Partial<Account> = {}): Account {
  const keys = [{ id: 7, type: "ssh-ed25519", base64: BASE64, fingerprint: FINGERPRINT }];
  return { name: "ext_tplan", uid: 58_801, expireAt: EXPIRE_AT, open: true, keys, ...overrides };
}

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that keeps its lines. */
export function recordingLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const keep =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
    };
  const log = { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
  return { log: { ...silentLog, ...log }, lines };
}
