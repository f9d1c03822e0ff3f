import { describe, expect, test } from "bun:test";
import {
  type AccountTable,
  findIn,
  isHalfCreated,
  isMarked,
  presenceIn,
  requireRef,
} from "../../../src/host/account.ts";
import { fuseMountsOf } from "../../../src/host/fuse-mounts.ts";
import { expandKeyPath, keyFileOf } from "../../../src/host/key-file/key-path.ts";
import {
  type Change,
  expectedOwner,
  expiryDay,
  planBeforeRemoval,
  planCreate,
  planKeys,
  planNoJobs,
  planOpen,
  planOpenHome,
  planRemoveEntry,
  planShut,
  splitHome,
} from "../../../src/host/plan/plan.ts";
import type { JournalEntry } from "../../../src/host/processes/journal.ts";
import { descendantsOf, provenConnections } from "../../../src/host/processes/proven-sessions.ts";
import { mountsWithin, parseMounts } from "../../../src/host/safe-open.ts";
import { requireLayout } from "../../../src/host/settings.ts";
import { parseVersion } from "../../../src/host/sshd/sshd.ts";
import { testAccount, testSettings } from "../../support/host-account.ts";

const settings = testSettings({ groups: ["sftponly"] });
const account = testAccount();
const owner = expectedOwner(settings, account);

function kinds(changes: readonly Change[]): readonly string[] {
  return changes.map((change) => (change.kind === "account-command" ? (change.argv[0] ?? "") : change.kind));
}

describe("plans", () => {
  test("planCreate() is one useradd with every property of the account, what useradd checks before what it takes as it is", () => {
    const [useradd] = planCreate(settings, account);
    expect(useradd).toEqual({
      kind: "account-command",
      accept: [0],
      argv: [
        ...["/usr/sbin/useradd", "-m", "-U", "-u", "58801", "-e", "22343", "-f", "-1", "-G", "uam-ext,sftponly"],
        ...["-K", "GID_MIN=58801", "-K", "GID_MAX=58801"],
        ...["-K", "SUB_UID_COUNT=0", "-K", "SUB_GID_COUNT=0", "-K", "HOME_MODE=0700", "-K", "UMASK=077"],
        ...["-K", "PASS_MAX_DAYS=-1", "-K", "PASS_MIN_DAYS=-1", "-K", "PASS_WARN_AGE=-1"],
        ...["-s", "/bin/bash", "-d", "/home/ext_tplan", "-p", "*", "--", "ext_tplan"],
      ],
    });
  });

  test("planOpen() writes the keys before it opens the account", () => {
    const changes = planOpen(account, planKeys(settings, owner, "text\n"), planOpenHome(settings, owner));
    expect(changes[2]).toEqual({
      kind: "account-command",
      accept: [0],
      argv: ["/usr/sbin/usermod", "-e", "22343", "-p", "*", "--", "ext_tplan"],
    });
    expect(kinds(changes)).toEqual(["write-keys", "open-home", "/usr/sbin/usermod"]);
    expect(changes[0]).toMatchObject({
      text: "text\n",
      purpose: "give",
      file: { path: "/home/ext_tplan/.ssh/authorized_keys" },
    });
  });

  test("planShut() shuts first, ends processes, removes jobs, empties the file and ends processes again", () => {
    const { refuse, first, clear, end } = planShut(settings, owner, { others: [] });
    const changes = [...refuse, ...first, ...clear, ...end];
    expect(changes[0]).toMatchObject({ argv: ["/usr/sbin/usermod", "-e", "1", "--", "ext_tplan"] });
    const order = kinds(changes).filter((kind) => /^(?:end-processes|remove-owned-files|write-keys)$/.test(kind));
    // What is still running would schedule itself again.
    const each = order.filter((kind, index) => kind !== order[index - 1]);
    expect(each).toEqual(["end-processes", "remove-owned-files", "write-keys", "end-processes"]);
    expect(changes.find((change) => change.kind === "write-keys")).toMatchObject({ text: "", purpose: "take" });
    // Only what is looked at again may be looked at quickly.
    expect([first.at(-1), end.at(-1)]).toMatchObject([{ isFirst: true }, { kind: "end-processes" }]);
    expect(end.at(-1)).not.toHaveProperty("isFirst");
  });

  test("planShut() leaves the jobs of an account that keeps them, and all the rest as it is", () => {
    const { clear, ...others } = planShut(settings, owner, { others: [], keepsJobs: true });
    const without = planShut(settings, owner, { others: [] });
    expect(clear).toEqual(without.clear.slice(planNoJobs(owner).length));
    expect(others).toEqual({ refuse: without.refuse, first: without.first, end: without.end });
  });

  test("planShut() and planOpenHome() leave homes alone where nobody could give them back", () => {
    const staying = testSettings({ homesStay: true });
    const { clear } = planShut(staying, owner, { others: [] });
    expect(kinds(clear)).not.toContain("shut-home");
    expect(planOpenHome(staying, owner)).toEqual([]);
    // Before the file in it is emptied: nobody can interfere with that then.
    const order = kinds(planShut(settings, owner, { others: [] }).clear);
    expect(order.indexOf("shut-home")).toBeLessThan(order.indexOf("write-keys"));
    expect(order.indexOf("shut-home")).toBeGreaterThan(order.indexOf("detach-fuse"));
  });

  test("planBeforeRemoval() moves the home last, and planRemoveEntry() never removes files", () => {
    const changes = planBeforeRemoval(settings, owner);
    expect(changes.at(-1)).toEqual({ kind: "set-aside", base: "/home", path: ["ext_tplan"], uid: 58_801 });
    // systemd takes the runtime directory away only of a unit that it has started.
    expect(changes.slice(0, 2)).toEqual(
      ["start", "stop"].map((verb) => ({
        kind: "systemd-command",
        argv: ["/usr/bin/systemctl", verb, "user-runtime-dir@58801.service"],
      })),
    );
    expect(planRemoveEntry(account)).toEqual([
      { kind: "account-command", argv: ["/usr/sbin/userdel", "--", "ext_tplan"], accept: [0, 6] },
    ]);
  });

  test("planBeforeRemoval() also moves key files outside the home", () => {
    const outside = testSettings({ authorizedKeysFile: "/var/lib/keys/%u/authorized_keys" });
    const changes = planBeforeRemoval(outside, owner);
    expect(changes).toContainEqual({ kind: "set-aside", base: "/var/lib/keys", path: ["ext_tplan"], uid: 58_801 });
  });

  test("planNoJobs() names crontab, at jobs and lingering", () => {
    const changes = planNoJobs(account);
    expect(changes).toContainEqual({ kind: "remove-file", path: "/var/spool/cron/crontabs/ext_tplan" });
    expect(changes).toContainEqual({ kind: "remove-file", path: "/var/lib/systemd/linger/ext_tplan" });
    expect(changes).toContainEqual({ kind: "remove-owned-files", directory: "/var/spool/cron/atjobs", uid: 58_801 });
  });

  test("expiryDay() is the UTC day after, never earlier than the time itself", () => {
    expect(expiryDay(new Date("2031-03-04T00:00:00.000Z"))).toBe(expiryDay(new Date("2031-03-04T23:59:59.999Z")));
    expect(expiryDay(new Date("1970-01-01T00:00:00Z"))).toBe(1);
    for (const text of ["2031-03-03T23:59:59.999Z", "2031-03-04T00:00:00Z", "2031-03-04T00:00:00.001Z"]) {
      expect(expiryDay(new Date(text)) * 86_400_000).toBeGreaterThan(Date.parse(text));
    }
  });

  test("splitHome() splits at the last part", () => {
    expect(splitHome("/srv/home/ext_a")).toEqual({ base: "/srv/home", name: "ext_a" });
    expect(splitHome("/ext_a")).toEqual({ base: "/", name: "ext_a" });
  });
});

describe("key paths", () => {
  test("expandKeyPath() expands as sshd does", () => {
    expect(expandKeyPath(".ssh/authorized_keys", owner)).toBe("/home/ext_tplan/.ssh/authorized_keys");
    expect(expandKeyPath("/k/%u/%U/100%%/keys", owner)).toBe("/k/ext_tplan/58801/100%/keys");
    expect(expandKeyPath("%h/%%u", owner)).toBe("/home/ext_tplan/%u");
  });

  test("keyFileOf() begins the account's own part at the home, or at the first directory named after the account", () => {
    expect(keyFileOf("%h/.ssh/authorized_keys", owner)).toMatchObject({
      trusted: "/home",
      owned: ["ext_tplan", ".ssh"],
      file: "authorized_keys",
      inHome: true,
    });
    const central = keyFileOf("/var/lib/keys/%u/a/keys", owner);
    expect(central).toMatchObject({ trusted: "/var/lib/keys", owned: ["ext_tplan", "a"], file: "keys", inHome: false });
    expect(keyFileOf("/etc/ssh/keys/%u", owner)).toMatchObject({
      trusted: "/etc/ssh/keys",
      owned: [],
      file: "ext_tplan",
    });
  });

  test.each(["/one/for/all", "%h/../x", "%h/%x", "%h/.ssh/", "", "%h/./x"])(
    "requireLayout() refuses %p",
    (authorizedKeysFile) => {
      expect(() => requireLayout(testSettings({ authorizedKeysFile }))).toThrow("UAM_AUTHORIZED_KEYS_FILE");
    },
  );

  test("requireLayout() refuses invalid paths and groups", () => {
    expect(() => requireLayout(testSettings({ homeBase: "home" }))).toThrow("UAM_HOME_BASE");
    expect(() => requireLayout(testSettings({ homeBase: "/home/../etc" }))).toThrow("UAM_HOME_BASE");
    expect(() => requireLayout(testSettings({ shell: "bash" }))).toThrow("UAM_SHELL");
    expect(() => requireLayout(testSettings({ groups: ["a,b"] }))).toThrow("UAM_GROUPS");
    expect(requireLayout(settings)).toBe(settings);
  });
});

describe("whose account it is", () => {
  const entry = { name: "ext_tplan", uid: 58_801, gid: 58_801, home: "/home/ext_tplan" };

  function table(change: Partial<AccountTable> = {}): AccountTable {
    return {
      passwd: new Map([["ext_tplan", entry]]),
      namesByUid: new Map([[58_801, ["ext_tplan"]]]),
      groups: new Map([
        ["uam-ext", { gid: 990, members: new Set(["ext_tplan"]) }],
        ["ext_tplan", { gid: 58_801, members: new Set<string>() }],
      ]),
      shadow: new Map([["ext_tplan", { password: "*", expires: undefined, ageing: false }]]),
      ...change,
    };
  }

  test("presenceIn() requires the name and the uid, whatever groups it is in and whoever shares the uid", () => {
    const others = new Map([["uam-ext", { gid: 990, members: new Set(["ext_other"]) }]]);
    const shared = new Map([[58_801, ["ext_tplan", "root2"]]]);
    for (const change of [{}, { groups: others }, { groups: new Map() }, { namesByUid: shared }]) {
      expect(presenceIn(table(change), account)).toBe("present");
    }
    expect(presenceIn(table(), { ...account, uid: 58_802 })).toBe("foreign");
    expect(presenceIn(table({ passwd: new Map() }), account)).toBe("foreign");
    expect(presenceIn(table({ passwd: new Map(), namesByUid: new Map() }), account)).toBe("missing");
    expect([isMarked(table(), account, "uam-ext"), isMarked(table({ groups: others }), account, "uam-ext")]).toEqual([
      true,
      false,
    ]);
  });

  test("findIn(), which knows no uid, requires the group, and that no other name has the uid", () => {
    const others = new Map([["uam-ext", { gid: 990, members: new Set(["ext_other"]) }]]);
    const shared = new Map([[58_801, ["ext_tplan", "root2"]]]);
    expect(findIn(table(), "ext_tplan", "uam-ext")).toEqual({ name: "ext_tplan", uid: 58_801 });
    for (const change of [{ groups: others }, { namesByUid: shared }]) {
      expect(() => findIn(table(change), "ext_tplan", "uam-ext")).toThrow("was not created by uam");
    }
  });

  test("isHalfCreated() is true only for our uid and home without shadow entry or group", () => {
    const home = "/home/ext_tplan";
    expect(isHalfCreated(table(), account, home)).toBe(false);
    expect(isHalfCreated(table({ shadow: new Map() }), account, home)).toBe(true);
    expect(isHalfCreated(table({ groups: new Map() }), account, home)).toBe(true);
    expect(isHalfCreated(table({ shadow: new Map() }), { ...account, uid: 58_802 }, home)).toBe(false);
    expect(isHalfCreated(table({ shadow: new Map() }), account, "/srv/ext_tplan")).toBe(false);
  });

  test.each([
    ["root", 58_801],
    ["-ext_a", 58_801],
    ["ext_a/b", 58_801],
    ["ext_..", 58_801],
    ["ext_A", 58_801],
    [`ext_${"a".repeat(29)}`, 58_801],
    ["ext_a", 0],
    ["ext_a", 999],
    ["ext_a", 2000.5],
  ])("requireRef() refuses %s with uid %d", (name, uid) => {
    expect(() => requireRef({ name, uid })).toThrow("of an account of this service");
  });
});

describe("evidence for a session", () => {
  const kept = `SHA256:${"k".repeat(43)}`;
  const revoked = `SHA256:${"r".repeat(43)}`;
  const connection = { pid: 500, parent: 1, uids: [0, 0, 0, 0], started: 1000 };
  const accepted = (fingerprint: string, change: Partial<JournalEntry> = {}): JournalEntry => ({
    pid: 500,
    uid: 0,
    monotonic: 10_000_500,
    message: `Accepted publickey for ext_a from 192.0.2.1 port 50000 ssh2: ED25519 ${fingerprint}`,
    ...change,
  });
  const proven = (...journal: readonly JournalEntry[]) =>
    provenConnections("ext_a", [connection], journal, new Set([kept]));

  test("provenConnections() spares a connection that another active key opened", () => {
    expect(proven(accepted(kept))).toEqual([connection]);
    expect(proven({ ...accepted(kept), pid: 7 }, accepted(kept))).toEqual([connection]);
  });

  test("provenConnections() does not spare the revoked key's, or one without evidence", () => {
    expect(proven(accepted(revoked))).toEqual([]);
    expect(proven()).toEqual([]);
    expect(proven(accepted(kept), accepted(revoked))).toEqual([]);
    expect(
      proven({ ...accepted(kept), message: "Accepted password for ext_a from 192.0.2.1 port 50000 ssh2" }),
    ).toEqual([]);
  });

  test("provenConnections() does not believe another user's line, another process's, or one from before it started", () => {
    expect(proven(accepted(kept, { uid: 58_801 }))).toEqual([]);
    expect(proven(accepted(kept, { pid: 501 }))).toEqual([]);
    expect(proven(accepted(kept, { monotonic: 9_999_999 }))).toEqual([]);
  });

  test("provenConnections() requires the whole line, for this very account", () => {
    const text = accepted(kept).message;
    for (const message of [
      `${text} [preauth]`,
      `x ${text}`,
      text.replace("ext_a", "ext_ab"),
      text.replace("ED25519", "ED25519-CERT ID x"),
    ]) {
      expect(proven(accepted(kept, { message }))).toEqual([]);
    }
  });

  test("descendantsOf() follows the tree and stops at what left it", () => {
    const process = (pid: number, parent: number) => ({ pid, parent, uids: [1], started: 1 });
    const tree = [process(1, 0), process(500, 1), process(501, 500), process(502, 501), process(600, 1)];
    expect([...descendantsOf(tree, new Set([500]))].sort()).toEqual([500, 501, 502]);
  });
});

describe("what the host says", () => {
  test("parseVersion() reads OpenSSH's version", () => {
    expect(parseVersion("OpenSSH_9.2, OpenSSL 3.0.19")).toBe(902);
    expect(parseVersion("unknown option -- V\nOpenSSH_8.4p1 Debian-5, OpenSSL 1.1.1")).toBe(804);
    expect(parseVersion("OpenSSH_10.0p2")).toBe(1000);
    expect(parseVersion("dropbear")).toBeUndefined();
  });

  test("fuseMountsOf() takes only the uid's own FUSE mounts, or anybody's but root's, at the home or below it", () => {
    const mount = (path: string, type: string, options: string) => ({ path, bytes: Buffer.from(path), type, options });
    const mounts = [
      mount("/home/ext_a/own", "fuse.sshfs", "rw,user_id=58801,group_id=58801"),
      mount("/home/ext_a/other", "fuse.sshfs", "rw,user_id=588010"),
      mount("/home/ext_a/root", "fuse", "rw,user_id=0"),
      mount("/home/ext_a/bind", "ext4", "rw,user_id=58801"),
      mount("/home/ext_ab", "fuse", "user_id=58801"),
      mount("/home/ext_a/own/inner", "fuse", "user_id=58801"),
    ];
    const own = fuseMountsOf(mounts, "/home/ext_a", 58_801);
    expect(own.map(({ path }) => path)).toEqual(["/home/ext_a/own", "/home/ext_a/own/inner"]);
    const anybody = fuseMountsOf(mounts, "/home/ext_a").map(({ path }) => path);
    expect(anybody).toEqual(["/home/ext_a/own", "/home/ext_a/other", "/home/ext_a/own/inner"]);
  });

  test("parseMounts() reads escaped blanks, and names that are not text", () => {
    const line = "36 35 98:0 / /home/a\\040b/m\xff rw,noatime master:1 - fuse.sshfs host: rw,user_id=1000";
    const bytes = Buffer.from("/home/a b/m\xff", "latin1");
    const [mount, ...others] = parseMounts(Buffer.from(`${line}\n`, "latin1"));
    expect(others).toEqual([]);
    expect(mount).toEqual({ path: "/home/a b/m\ufffd", bytes, type: "fuse.sshfs", options: "rw,user_id=1000" });
    expect(mountsWithin([mount ?? expect.unreachable()], "/home/a b")).toHaveLength(1);
  });
});
