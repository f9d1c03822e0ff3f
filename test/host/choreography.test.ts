/** In which order an account is shut and repaired, on a machine in memory: on a real one only what comes of it shows. */

import { beforeEach, describe, expect, test } from "bun:test";
import { accountsIn } from "../../src/host/account.ts";
import { shutAccount, takeKey } from "../../src/host/closing.ts";
import { createDryRunExecutor } from "../../src/host/execute/dry-run.ts";
import type { Executor } from "../../src/host/executor.ts";
import type { HostContext } from "../../src/host/host-context.ts";
import { type Change, expiryDay, SHUT_DAY } from "../../src/host/plan/plan.ts";
import { reconcileAccounts } from "../../src/host/reconcile.ts";
import { UamError } from "../../src/shared/errors.ts";
import { fileOf, recordingLog, testAccount, testSettings } from "../support/host-account.ts";

const SETTINGS = testSettings({ mode: "direct" });
const account = testAccount();
const OPEN_DAY = expiryDay(account.expireAt);

let machine: { expires: number; isMember: boolean; isHomeShut: boolean; file: string; home: string; hasHome: boolean };
/** What was changed, by the program or the kind of the change. */
let changes: string[];
/** The changes that fail. */
let failing: Set<string>;
/** Whether each session can be told from those of other keys. */
let isProven: boolean;

beforeEach(() => {
  machine = {
    ...{ expires: OPEN_DAY, isMember: true, isHomeShut: false, file: fileOf(account) },
    ...{ home: `/home/${account.name}`, hasHome: true },
  };
  changes = [];
  failing = new Set();
  isProven = true;
});

function apply(change: Change): void {
  const name = nameOf(change);
  changes.push(name);
  if (failing.has(name)) throw new UamError("internal", `The host refused: ${name}`);
  if (name === "group") machine.isMember = true;
  if (change.kind === "account-command" && name === "expiry") machine.expires = Number(change.argv[2]);
  if (change.kind === "write-keys") machine.file = change.text;
  if (change.kind === "shut-home" || change.kind === "open-home") machine.isHomeShut = change.kind === "shut-home";
}

function nameOf(change: Change): string {
  if (change.kind !== "account-command") return change.kind;
  return change.argv.includes("-e") ? "expiry" : change.argv.includes("-G") ? "group" : "marker group";
}

function context(settings = SETTINGS): HostContext {
  const { log } = recordingLog();
  const dry = createDryRunExecutor(settings, log);
  const { name, uid } = account;
  const table = () =>
    accountsIn({
      passwd: `${name}:x:${uid}:${uid}::${machine.home}:/bin/bash\n`,
      group: `uam-ext:x:990:${machine.isMember ? name : ""}\n`,
      shadow: `${name}:*:20000:::::${machine.expires}:\n`,
    });
  const executor: Executor = {
    ...dry,
    apply: async (change) => apply(change),
    endUnproven: async (_, fingerprint) => {
      changes.push(`end sessions that ${fingerprint} may have opened`);
      return isProven;
    },
    view: {
      ...dry.view,
      accounts: table,
      exists: () => machine.hasHome,
      isHomeShut: () => machine.isHomeShut,
      keyFileDifference: async (_, text) => (machine.file === text ? undefined : "its text is another"),
      keyFileText: async () => ({ text: machine.file }),
    },
  };
  const readKeyFiles = { patterns: [".ssh/authorized_keys"], problem: undefined, isStrange: false };
  const patterns = {
    ...{ of: async () => readKeyFiles, refusal: () => undefined, reads: () => true, refresh: () => {} },
    named: async () => readKeyFiles.patterns,
    settingsFor: async () => ({}),
  };
  return { settings, executor, expiry: { kind: "utc" }, log, patterns, hostKeys: async () => [] };
}

const reconcile = (open = true) => reconcileAccounts(context(), [{ ...account, open }], false);
const check = (open = true) => reconcileAccounts(context(), [{ ...account, open }], true);

describe("reconciling an open account", () => {
  test("changes nothing where nothing differs", async () => {
    expect(await reconcile()).toEqual([]);
    expect(changes).toEqual([]);
  });

  test("repairs the group first and the expiry date last", async () => {
    Object.assign(machine, { expires: SHUT_DAY, isMember: false, file: "" });
    expect(await check()).toMatchObject([{ kind: "group" }, { kind: "expiry_date" }, { kind: "key_file" }]);
    expect(changes).toEqual([]);
    expect((await reconcile()).map(({ repaired }) => repaired)).toEqual([true, true, true]);
    expect(changes).toEqual(["marker group", "group", "write-keys", "expiry"]);
    expect(await check()).toEqual([]);
  });

  test.each(["group", "write-keys"])("does not open it where this fails: %s", async (change) => {
    Object.assign(machine, { expires: SHUT_DAY, isMember: false, file: "" });
    failing.add(change);
    expect((await reconcile()).at(-1)).toMatchObject({ kind: "failed", problem: `The host refused: ${change}` });
    expect(machine.expires).toBe(SHUT_DAY);
  });

  test("writes the file again after ending the sessions of a key that somebody added", async () => {
    machine.file += fileOf(testAccount()).replaceAll("AAAAC3NzaC1lZDI1NTE5AAAAIF", "AAAAC3NzaC1lZDI1NTE5AAAAIG");
    expect(await reconcile()).toMatchObject([{ kind: "key_added", repaired: true }]);
    expect([changes[0], changes.at(-1)]).toEqual(["write-keys", "write-keys"]);
    expect(changes.length).toBeGreaterThan(2);
  });

  test("gives the home back that is still root's", async () => {
    machine.isHomeShut = true;
    expect(await reconcile()).toMatchObject([{ kind: "home", problem: "the home is still root's", repaired: true }]);
    expect(machine.isHomeShut).toBe(false);
    expect(await check()).toEqual([]);
  });
});

describe("reconciling a shut account", () => {
  test("shuts it as a closing does, home included", async () => {
    expect((await check(false)).map(({ kind }) => kind)).toEqual(["expiry_date", "home", "key_file"]);
    expect((await reconcile(false)).map(({ repaired }) => repaired)).toEqual([true, true, true]);
    expect(machine).toMatchObject({ expires: SHUT_DAY, isHomeShut: true, file: "" });
    expect(changes[0]).toBe("expiry");
    expect(changes.indexOf("shut-home")).toBeLessThan(changes.indexOf("write-keys"));
    expect(await check(false)).toEqual([]);
  });

  test("looks for no key file where the home is gone, as in the middle of a removal", async () => {
    Object.assign(machine, { expires: SHUT_DAY, isHomeShut: true, hasHome: false });
    expect(await check(false)).toEqual([]);
    machine.hasHome = true;
    expect(await check(false)).toMatchObject([{ kind: "key_file" }]);
  });
});

describe("takeKey()", () => {
  const [key] = account.keys;
  const fingerprint = key?.fingerprint ?? "";
  const left = { ...account, keys: [] };
  const without = fileOf(left);
  const ending = `end sessions that ${fingerprint} may have opened`;
  const take = (settings = SETTINGS) => takeKey(context(settings), left, fingerprint);

  test("rewrites the file first, and again only where a process that was ended changed it", async () => {
    expect(await take()).toEqual({ rewritten: true, owed: [] });
    expect(machine.file).toBe(without);
    expect(changes[0]).toBe("write-keys");
    expect(changes.filter((change) => change === "write-keys")).toHaveLength(1);
    expect(changes.filter((change) => change === ending)).toHaveLength(2);
    expect(changes).not.toContain("end-processes");
  });

  test("ends everything where it cannot be told whose a session is, or where that is wanted", async () => {
    isProven = false;
    expect(await take()).toEqual({ rewritten: true, owed: [] });
    expect(changes.filter((change) => change === "end-processes").length).toBeGreaterThan(0);
    changes = [];
    expect(await take({ ...SETTINGS, revokeEnds: "account" })).toEqual({ rewritten: true, owed: [] });
    expect(changes).toContain("end-processes");
    expect(changes).not.toContain(ending);
  });

  test("ends nothing where that is wanted", async () => {
    expect(await take({ ...SETTINGS, revokeEnds: "none" })).toEqual({ rewritten: true, owed: [] });
    expect(changes).toEqual(["write-keys"]);
  });

  test("says why the key is still in the file, and ends nothing", async () => {
    failing.add("write-keys");
    expect(await take()).toEqual({ rewritten: false, problem: "The host refused: write-keys" });
    expect(changes).toEqual(["write-keys"]);
  });

  test("owes what does not end", async () => {
    isProven = false;
    failing.add("end-processes");
    expect(await take()).toEqual({ rewritten: true, owed: ["The host refused: end-processes"] });
  });

  test("touches nothing in a home that is not the account's own", async () => {
    machine.home = "/srv/elsewhere";
    const problem = `The home directory of ${account.name} is /srv/elsewhere: it is left alone`;
    expect(await take()).toEqual({ rewritten: false, problem });
    expect(changes).toEqual([]);
  });
});

describe("shutAccount()", () => {
  test("owes what fails in the order in which it matters, and says that sshd refuses every key", async () => {
    failing = new Set(["shut-home", "remove-file", "write-keys", "end-processes"]);
    expect(await shutAccount(context(), account)).toEqual({
      refused: true,
      owed: ["end-processes", "write-keys", "remove-file", "shut-home"].map((name) => `The host refused: ${name}`),
    });
    expect(machine.expires).toBe(SHUT_DAY);
  });

  test("leaves a home alone that is not the account's own, and does all else", async () => {
    machine.home = "/srv/elsewhere";
    const sentence = `The home directory of ${account.name} is /srv/elsewhere: it is left alone`;
    expect(await shutAccount(context(), account)).toEqual({ refused: true, owed: [sentence] });
    expect(changes.filter((change) => ["detach-fuse", "shut-home", "write-keys"].includes(change))).toEqual([]);
    for (const change of ["expiry", "end-processes", "remove-file", "remove-owned-files"])
      expect(changes).toContain(change);
  });
});
