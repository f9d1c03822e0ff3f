/** From where keys may be used, by a real sshd and two addresses of this machine's: direct mode. */

import { beforeEach, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { peersOf } from "../../src/host/processes/peer.ts";
import { connectionsOf, processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import type { Account, Host, HostKey } from "../../src/protocol/host.ts";
import {
  base,
  directHost,
  keysPath,
  NAME,
  prepareHost,
  recorded,
  run,
  running,
  shadow,
  sshd,
  startAs,
  stored,
  UID,
} from "../support/direct-host.ts";
import { microsecondsSinceBoot, startFakeJournal } from "../support/fake-journal.ts";
import { describeOnHost } from "../support/host-account.ts";
import { until } from "../support/until.ts";

const INSIDE = "127.0.0.1";
const OUTSIDE = "127.0.0.2";

describeOnHost("networks in direct mode", () => {
  prepareHost();

  let host: Host;
  let made: readonly { readonly path: string; readonly key: HostKey }[] | undefined;

  beforeEach(async () => {
    made ??= [sshd.makeKey(61), sshd.makeKey(62)];
    host = await directHost();
    await host.createAccount(account(undefined, undefined));
    await host.writeKeys(account(undefined, undefined));
  });

  /** The account whose keys have these networks. */
  function account(...networks: readonly (readonly string[] | undefined)[]): Account {
    return stored({ keys: networks.map((some, index) => ({ ...key(index), networks: some })) });
  }
  const key = (index: number): HostKey => made?.[index]?.key as HostKey;
  const path = (index: number): string => made?.[index]?.path ?? "";
  const sleeps = (marker: string): boolean =>
    processesOf(readProcesses(), UID).some(({ pid }) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0/g, " ").trim().endsWith(`sleep ${marker}`);
      } catch {
        return false;
      }
    });
  async function open(index: number, marker: string, from: string): Promise<ChildProcess> {
    const client = sshd.open(NAME, path(index), `sleep ${marker}`, from);
    await until(() => sleeps(marker));
    return client;
  }
  const sshKeyTypeAndData = (index: number): string => `${key(index).type} ${key(index).base64}`;

  test("writeKeys() lets a key in from inside its networks only, and keeps its expiry", async () => {
    expect([sshd.login(NAME, path(0), INSIDE), sshd.login(NAME, path(0), OUTSIDE)]).toEqual([true, true]);
    expect(readFileSync(keysPath(), "utf8")).not.toContain("from=");
    await host.writeKeys(account(["127.0.0.1/32", "2001:db8::/32"], undefined));
    expect(readFileSync(keysPath(), "utf8")).toContain(
      `expiry-time="20310304115959Z",from="127.0.0.1/32,2001:db8::/32" ${sshKeyTypeAndData(0)} uam:61\n`,
    );
    expect([sshd.login(NAME, path(0), INSIDE), sshd.login(NAME, path(0), OUTSIDE)]).toEqual([true, false]);
    expect([sshd.login(NAME, path(1), INSIDE), sshd.login(NAME, path(1), OUTSIDE)]).toEqual([true, true]);
    for (const [networks, inside, outside] of [
      [["127.0.0.0/8"], true, true],
      [["127.0.0.0/31"], true, false],
      [["127.0.0.2/31"], false, true],
      [["0.0.0.0/0"], true, true],
      [["::/0"], false, false],
      [[], false, false],
      [Array.from({ length: 32 }, (_, index) => `2001:db8:${index}:1:1:1:1:1/128`), false, false],
      [[...Array.from({ length: 31 }, (_, index) => `2001:db8:${index}:1:1:1:1:1/128`), "127.0.0.1/32"], true, false],
    ] as const) {
      await host.writeKeys(account(networks));
      expect([networks, sshd.login(NAME, path(0), INSIDE), sshd.login(NAME, path(0), OUTSIDE)]).toEqual([
        networks,
        inside,
        outside,
      ]);
    }
    // The expiry holds together with the networks.
    await host.writeKeys({ ...account(["127.0.0.0/8"]), expireAt: new Date(Date.now() - 60_000) });
    expect(sshd.login(NAME, path(0), INSIDE)).toBe(false);
  });

  test("narrowKeys() refuses the outside at once, ends its sessions, and leaves those from inside alone", async () => {
    await open(0, "611", OUTSIDE);
    await open(1, "612", INSIDE);
    expect(await host.narrowKeys(account(["127.0.0.1/32"], ["127.0.0.1/32"]))).toEqual([]);
    expect([sleeps("611"), sleeps("612")]).toEqual([false, true]);
    expect((await host.sessions(stored())).map(({ from }) => from)).toEqual([INSIDE]);
    expect([sshd.login(NAME, path(0), INSIDE), sshd.login(NAME, path(0), OUTSIDE)]).toEqual([true, false]);
    // Nothing is left to do the second time.
    expect(await host.narrowKeys(account(["127.0.0.1/32"], ["127.0.0.1/32"]))).toEqual([]);
    expect(sleeps("612")).toBe(true);
  });

  test("narrowKeys() of one key spares the other's sessions only where sshd's own log proves them", async () => {
    const fake = startFakeJournal(base);
    host = await directHost({ tools: { sshdConfig: sshd.config, ...fake.tools } });
    await open(0, "621", OUTSIDE);
    const [first] = await host.sessions(stored());
    await open(1, "622", OUTSIDE);
    const second = (await host.sessions(stored())).find(({ id }) => id !== first?.id);
    fake.add({
      _PID: String(Number(second?.id.slice(-7))),
      _UID: "0",
      __MONOTONIC_TIMESTAMP: microsecondsSinceBoot(),
      MESSAGE: `Accepted publickey for ${NAME} from ${OUTSIDE} port 40000 ssh2: ED25519 ${key(1).fingerprint}`,
    });
    expect(await host.narrowKeys(account(["127.0.0.1/32"], undefined))).toEqual([]);
    expect([sleeps("621"), sleeps("622")]).toEqual([false, true]);
    // From nowhere: the key is out of the file, and its proven session ends wherever it comes from.
    expect(await host.narrowKeys(account(["127.0.0.1/32"], []))).toEqual([]);
    expect(sleeps("622")).toBe(false);
    expect(readFileSync(keysPath(), "utf8")).not.toContain(key(1).base64);
    fake.close();
  });

  test("narrowKeys() also ends a login from outside that sshd has begun to let in", async () => {
    // sshd has accepted the key, and waits for the signature, for which the client waits for a passphrase.
    run("cp", path(0), `${path(0)}.copy`);
    run("cp", `${path(0)}.pub`, `${path(0)}.copy.pub`);
    expect(run("ssh-keygen", "-q", "-p", "-P", "", "-N", "passphrase", "-f", `${path(0)}.copy`).status).toBe(0);
    const [askpass, go] = [join(base, "askpass-later"), join(base, "go")];
    writeFileSync(askpass, `#!/bin/sh\nwhile [ ! -e ${go} ]; do sleep 0.1; done\necho passphrase\n`, { mode: 0o755 });
    const port = /^Port (\d+)$/m.exec(readFileSync(sshd.config, "utf8"))?.[1] ?? "";
    const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes"];
    const args = ["-F", "none", ...options.flatMap((option) => ["-o", option]), "-i", `${path(0)}.copy`, "-p", port];
    const env = { PATH: "/usr/bin:/bin", SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: "force" };
    const knock = (from: string, marker: string) =>
      spawn("/usr/bin/ssh", ["-b", from, ...args, `${NAME}@127.0.0.1`, `sleep ${marker}`], { stdio: "ignore", env });
    knock(OUTSIDE, "631");
    knock(INSIDE, "632");
    await until(() => connectionsOf(readProcesses(), NAME).length === 2);
    await Bun.sleep(500);
    expect(await host.narrowKeys(account(["127.0.0.1/32"]))).toEqual([]);
    expect(connectionsOf(readProcesses(), NAME).map(({ pid }) => peersOf([pid]).get(pid))).toEqual([INSIDE]);
    writeFileSync(go, "");
    await until(() => sleeps("632"));
    await Bun.sleep(500);
    expect([sleeps("631"), sleeps("632")]).toEqual([false, true]);
  });

  test("narrowKeys() ends no session where a revocation ends none", async () => {
    host = await directHost({ revokeEnds: "none" });
    await open(0, "641", OUTSIDE);
    expect(await host.narrowKeys(account(["127.0.0.1/32"]))).toEqual([]);
    expect(sleeps("641")).toBe(true);
    expect(sshd.login(NAME, path(0), OUTSIDE)).toBe(false);
  });

  test("narrowKeys() ends a session from outside that is stopped, and nothing that is of no session", async () => {
    await open(0, "651", INSIDE);
    startAs(UID, "sleep", "652");
    await until(() => sleeps("652"));
    await open(0, "653", OUTSIDE);
    run("pkill", "-STOP", "-U", String(UID));
    expect(await host.narrowKeys(account(["127.0.0.1/32"]))).toEqual([]);
    expect(sleeps("653")).toBe(false);
    expect(sleeps("652")).toBe(true);
  });

  test("narrowKeys() says what keeps a key open to everywhere, and throws only for accounts that are not ours", async () => {
    const outside = join(base, "everybody");
    const config = join(base, "sshd_config_two");
    writeFileSync(config, `AuthorizedKeysFile .ssh/authorized_keys ${outside}\n${readFileSync(sshd.config, "utf8")}`);
    writeFileSync(outside, `${sshKeyTypeAndData(0)} copy\n`);
    host = await directHost({ tools: { sshdConfig: config } });
    expect(await host.narrowKeys(account(["127.0.0.1/32"]))).toEqual([
      `sshd also reads a key of ${NAME} from ${outside}, where it may be used from anywhere: remove it there`,
    ]);
    writeFileSync(outside, `${sshKeyTypeAndData(1)} another\n`);
    expect(await host.narrowKeys(account(["127.0.0.1/32"]))).toEqual([]);
    await expect(host.narrowKeys({ ...account(["127.0.0.1/32"]), uid: UID + 1 })).rejects.toThrow(/uid|account/);
  });

  describe("shortenAccount()", () => {
    const until = (expireAt: Date): Account => ({ ...account(undefined, ["127.0.0.0/8"]), expireAt });
    const HOUR = 3_600_000;

    test("makes sshd refuse the keys from the new end on, dates the account, and ends no session", async () => {
      const after = new Date(Date.now() + HOUR);
      await open(0, "671", OUTSIDE);
      expect(await host.shortenAccount(until(after))).toEqual([]);
      // sshd lets a key in until the second that its line names is over.
      const last = new Date(after.getTime() - 1000);
      const time = `${last.toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`;
      const ends = [...readFileSync(keysPath(), "utf8").matchAll(/expiry-time="([^"]*)"/g)].map(([, end]) => end);
      expect(ends).toEqual([time, time]);
      expect(shadow()).toMatchObject({ expires: Math.floor(after.getTime() / 86_400_000) + 1 });
      expect([sleeps("671"), sshd.login(NAME, path(0), OUTSIDE)]).toEqual([true, true]);
      expect(await host.shortenAccount(until(new Date(Date.now() - 60_000)))).toEqual([]);
      expect([sleeps("671"), sshd.login(NAME, path(0)), sshd.login(NAME, path(1))]).toEqual([true, false, false]);
    });

    test("does not open an account that is shut", async () => {
      await host.shutAccount(stored());
      await host.shortenAccount(until(new Date(Date.now() + HOUR)));
      expect(shadow()).toMatchObject({ expires: 1 });
      expect(sshd.login(NAME, path(0))).toBe(false);
    });

    test("says what keeps a key open for longer, and throws only for accounts that are not ours", async () => {
      const outside = join(base, "everybody");
      const config = join(base, "sshd_config_three");
      writeFileSync(config, `AuthorizedKeysFile .ssh/authorized_keys ${outside}\n${readFileSync(sshd.config, "utf8")}`);
      writeFileSync(outside, `${sshKeyTypeAndData(0)} copy\n`);
      host = await directHost({ tools: { sshdConfig: config } });
      const shorter = until(new Date(Date.now() + HOUR));
      expect(await host.shortenAccount(shorter)).toEqual([
        `sshd also reads a key of ${NAME} from ${outside}, where it may be used for longer: remove it there`,
      ]);
      await expect(host.shortenAccount({ ...shorter, uid: UID + 1 })).rejects.toThrow(/uid|account/);
    });
  });

  test("damaged networks never reach the file", async () => {
    const before = readFileSync(keysPath(), "utf8");
    for (const network of ["127.0.0.1", "127.0.0.1/8", "*", '127.0.0.1/32",command="id', "!10.0.0.0/8", "a,b", ""]) {
      await expect(host.writeKeys(account([network]))).rejects.toThrow(
        "The stored networks of the SSH key 61 are damaged",
      );
      expect((await host.narrowKeys(account([network])))[0]).toContain(
        "The stored networks of the SSH key 61 are damaged",
      );
    }
    expect(readFileSync(keysPath(), "utf8")).toBe(before);
  });

  describe("reconcile", () => {
    const narrow = () => account(["127.0.0.1/32"]);

    test("reconcile() leaves a file alone that has no networks and needs none", async () => {
      const { mtimeMs, ino } = await Bun.file(keysPath()).stat();
      expect(await host.reconcile([account(undefined, undefined)], false)).toEqual([]);
      expect(await Bun.file(keysPath()).stat()).toMatchObject({ mtimeMs, ino });
    });

    test("reconcile() puts networks back that the account's owner took out of the line, and ends what came in", async () => {
      expect(await host.narrowKeys(narrow())).toEqual([]);
      await open(0, "661", INSIDE);
      const text = readFileSync(keysPath(), "utf8");
      for (const owned of [text.replace(/,from="[^"]*"/, ""), text.replace("127.0.0.1/32", "127.0.0.0/8")]) {
        writeFileSync(keysPath(), owned);
        chownSync(keysPath(), UID, UID);
        chmodSync(keysPath(), 0o600);
        await open(0, "662", OUTSIDE);
        expect((await host.reconcile([narrow()], true)).map(({ kind }) => kind)).toEqual(["key_file"]);
        const drifts = await host.reconcile([narrow()], false);
        expect(drifts.map(({ kind, repaired }) => [kind, repaired])).toEqual([["key_file", true]]);
        expect(readFileSync(keysPath(), "utf8")).toBe(text);
        expect([sleeps("661"), sleeps("662")]).toEqual([true, false]);
        expect(sshd.login(NAME, path(0), OUTSIDE)).toBe(false);
      }
      expect(await host.reconcile([narrow()], false)).toEqual([]);
    });

    test("reconcile() takes a key that may be used from nowhere for one that is not stored", async () => {
      expect((await host.reconcile([account(undefined, [])], false)).map(({ kind }) => kind)).toEqual(["key_added"]);
      expect([sshd.login(NAME, path(0)), sshd.login(NAME, path(1))]).toEqual([true, false]);
    });
  });

  test("a dry run logs the line and the sessions that would end", async () => {
    host = await directHost({ mode: "dry-run" });
    expect(await host.narrowKeys(account(["127.0.0.1/32"]))).toEqual([]);
    const lines = recorded.lines.filter(({ message }) => message.startsWith("would "));
    expect(lines.map(({ message }) => message)).toEqual([
      "would write",
      "would move away keys that sshd would also read",
      "would end sessions from outside the keys' networks",
      "would write",
      "would move away keys that sshd would also read",
    ]);
    expect(lines[0]?.fields.content).toContain(',from="127.0.0.1/32" ssh-ed25519 ');
    expect(lines[2]?.fields).toEqual({
      account: NAME,
      keys: [{ fingerprint: key(0).fingerprint, networks: ["127.0.0.1/32"] }],
    });
    expect(running()).toBe(0);
  });
});
