/** An account that is in no line of /etc/passwd any more, and that sshd knows all the same: here from systemd's own records. */

import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyState } from "../../src/agent/apply.ts";
import { createHolding } from "../../src/agent/profiles.ts";
import { type AccountRecord, type AgentState, NOTHING } from "../../src/agent/records.ts";
import type { AccountState } from "../../src/protocol/fleet.ts";
import {
  base,
  CLOSED,
  directHost,
  keysPath,
  MANY,
  NAME,
  prepareHost,
  run,
  sshd,
  stored,
  UID,
} from "../support/direct-host.ts";
import { timesAt, toldAccount } from "../support/fleet-stub.ts";
import { describeOnHost } from "../support/host-account.ts";

/** Where nss-systemd(8) finds users without a service. */
const RECORDS = "/etc/userdb";
const [SECOND = ""] = MANY;

/** What an agent knows that is to shut the account. */
function told(account: AccountState): AgentState {
  const record: AccountRecord = { ...account, made: true, todo: { ...NOTHING, shut: true }, problem: undefined };
  const said = { status: "active", lease_ms: 1000, lease_ends: "logins", end_sessions: "key" } as const;
  return { version: 1, cursor: "", ...said, records: [record] };
}

const isAsked = () => /^passwd:.*\bsystemd\b/m.test(readFileSync("/etc/nsswitch.conf", "utf8"));

describeOnHost(
  "an account that only another directory has",
  () => {
    prepareHost();

    test("is not said to be removed, nor shut, while sshd reads a key for it", async () => {
      const host = await directHost();
      const { path, key } = sshd.makeKey(1);
      const account = stored({ keys: [key] });
      await host.createAccount(account);
      await host.openAccount(account);
      run("userdel", "--", NAME);
      const known = (homeDirectory: string) => {
        const path = join(RECORDS, `${NAME}.user`);
        const record = { userName: NAME, uid: UID, gid: UID, homeDirectory, shell: "/bin/bash" };
        // None that can match, but not locked: with UsePAM no, sshd refuses what is.
        const secret = { privileged: { hashedPassword: ["*"] } };
        writeFileSync(`${path}-privileged`, JSON.stringify(secret), { mode: 0o600 });
        writeFileSync(path, JSON.stringify({ ...record, disposition: "regular" }));
      };
      mkdirSync(RECORDS, { recursive: true });
      try {
        known(join(base, NAME));
        expect([await host.presence(account), sshd.login(NAME, path)]).toEqual(["missing", true]);
        const sentence = `sshd reads keys of ${NAME} from ${keysPath()}`;
        expect(await host.foreignKeys(account)).toEqual([sentence]);
        const { records } = await applyState(
          {
            host,
            status: "active",
            mayOpen: true,
            locked: () => new Set(),
            refused: new WeakMap(),
            turn: (step) => step(),
            holding: createHolding(),
            times: () => timesAt(Date.now()),
          },
          told(toldAccount({ name: NAME, uid: UID, open: false })),
        );
        expect(records[0]).toMatchObject({ todo: { shut: true }, problem: { kind: "refused", text: sentence } });

        const moved = join(base, SECOND, ".ssh");
        mkdirSync(moved, { recursive: true });
        copyFileSync(keysPath(), join(moved, "authorized_keys"));
        known(join(base, SECOND));
        const elsewhere = `sshd reads keys of ${NAME} from ${join(moved, "authorized_keys")}`;
        expect(await host.removeAccount(account)).toEqual({ refused: false, owed: [elsewhere] });
      } finally {
        for (const end of ["user", "user-privileged"]) rmSync(join(RECORDS, `${NAME}.${end}`), { force: true });
        try {
          rmdirSync(RECORDS);
        } catch {
          // Somebody else's records are in it.
        }
      }
      expect(await host.removeAccount(account)).toEqual(CLOSED);
    });
  },
  isAsked,
);
