/** The home of a shut account in direct mode: root's, so that nothing reads files in it as its owner. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Host } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { base, CLOSED, directHost, NAME, prepareHost, run, stored, UID } from "../support/direct-host.ts";
import { describeOnHost } from "../support/host-account.ts";
import { withSilentFuse } from "../support/silent-fuse.ts";

const EXIM = "/usr/sbin/exim4";

describeOnHost("the home of a shut account", () => {
  prepareHost();
  let mail: string;
  let configuration: string;
  beforeAll(() => {
    mail = mkdtempSync("/var/lib/uam-texim-");
    chmodSync(mail, 0o777);
    mkdirSync(join(mail, "box"));
    chmodSync(join(mail, "box"), 0o777);
    configuration = join(mail, "etc");
    mkdirSync(configuration);
    writeFileSync(join(configuration, "exim4.conf"), eximConfiguration(mail), { mode: 0o644 });
  });
  afterAll(() => rmSync(mail, { recursive: true, force: true }));

  const home = (name = NAME) => join(base, name);
  const ran = () => join(mail, "box", "ran");
  const ownerOf = (path: string) => {
    const { uid, gid, mode } = lstatSync(path);
    return { uid, gid, mode: mode & 0o7777 };
  };
  const shutState = { uid: 0, gid: 0, mode: 0o700 };
  const openState = () => ({ uid: UID, gid: UID, mode: 0o700 });

  /** Delivers a mail to the account as a mail server does, to its end; true if the account's `.forward` ran a program. */
  function forwarded(): boolean {
    rmSync(ran(), { force: true });
    const text = `To: ${NAME}@localhost\nSubject: x\n\nx\n`;
    // It stays root only with the configuration in its own place.
    const script = `mount --bind ${configuration} /etc/exim4 && exec ${EXIM} -odf -oem ${NAME}@localhost`;
    const options = { input: text, encoding: "utf8" } as const;
    const { status, stderr } = spawnSync("unshare", ["--mount", "sh", "-c", script], options);
    if (status !== 0 && status !== 2) throw new Error(stderr);
    return existsSync(ran());
  }

  async function created(): Promise<Host> {
    const host = await directHost();
    await host.createAccount(stored());
    const path = join(home(), ".forward");
    writeFileSync(path, `"|/bin/sh -c 'id -u > ${ran()}'"\n`);
    chownSync(path, UID, UID);
    chmodSync(path, 0o600);
    return host;
  }

  describe("with a mail server that delivers locally", () => {
    test("shutAccount() keeps ~/.forward from running, and openAccount() gives the home back", async () => {
      const host = await created();
      expect(forwarded()).toBe(true);
      expect(readFileSync(ran(), "utf8").trim()).toBe(String(UID));
      expect(await host.shutAccount(stored())).toEqual(CLOSED);
      expect(ownerOf(home())).toEqual(shutState);
      expect(forwarded()).toBe(false);
      // A second time, as a retry or the deletion of a disabled user does.
      expect(await host.shutAccount(stored())).toEqual(CLOSED);
      expect(await host.reconcile([stored({ open: false })], true)).toEqual([]);
      await host.openAccount(stored());
      expect(ownerOf(home())).toEqual(openState());
      expect(forwarded()).toBe(true);
      expect(await host.reconcile([stored()], true)).toEqual([]);
    });
  });

  test("reconcile() shuts the home of a shut account again, and gives that of an open one back", async () => {
    const host = await created();
    await host.shutAccount(stored());
    chownSync(home(), UID, UID);
    chmodSync(home(), 0o755);
    const shut = stored({ open: false });
    expect(await host.reconcile([shut], true)).toMatchObject([{ kind: "home", repaired: false }]);
    expect(ownerOf(home())).toEqual({ ...openState(), mode: 0o755 });
    expect(await host.reconcile([shut], false)).toMatchObject([{ kind: "home", repaired: true }]);
    expect(ownerOf(home())).toEqual(shutState);
    await host.openAccount(stored());
    chownSync(home(), 0, 0);
    expect(await host.reconcile([stored()], false)).toMatchObject([{ kind: "home", repaired: true }]);
    expect(ownerOf(home())).toEqual(openState());
  });

  test("what keeps the home from being shut is owed, and sshd refuses all the same; a link is never followed", async () => {
    const host = await created();
    const victim = join(base, "victim");
    mkdirSync(victim);
    chownSync(victim, UID, UID);
    renameSync(home(), `${home()}.real`);
    symlinkSync(victim, home());
    const { refused, owed } = await host.shutAccount(stored());
    expect(refused).toBe(true);
    expect(owed.join(" ")).toContain("The home directory");
    expect(ownerOf(victim).uid).toBe(UID);
    rmSync(home());
    renameSync(`${home()}.real`, home());
    chownSync(home(), UID + 5, UID + 5);
    expect((await host.shutAccount(stored())).owed.join(" ")).toContain(`belongs to uid ${UID + 5}`);
    expect(ownerOf(home()).uid).toBe(UID + 5);
    chownSync(home(), UID, UID);
    rmSync(victim, { recursive: true });
    expect(await host.shutAccount(stored())).toEqual(CLOSED);
  });

  test("what another account mounted over the home, or in it, keeps it neither from being shut nor from being removed", async () => {
    const host = await created();
    for (const over of ["", "in"]) {
      await host.openAccount(stored());
      mkdirSync(join(home(), over), { recursive: true });
      // Who may write to a directory may mount there: fusermount3 asks for no more.
      chmodSync(home(), 0o777);
      await withSilentFuse(join(home(), over), UID + 1, async (mounted) => {
        expect(await host.shutAccount(stored())).toEqual(CLOSED);
        expect([mounted(), ownerOf(home())]).toEqual([false, shutState]);
      });
    }
    await host.openAccount(stored());
    chmodSync(home(), 0o777);
    await withSilentFuse(home(), UID + 1, async () => {
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
      expect(existsSync(home())).toBe(false);
    });
  });

  test("where this process may not unmount, as in the unit, sshd refuses all the same, what is in the way is said, and it goes on without it", async () => {
    const kernel = bunRuntime.openKernel();
    const confined = { ...bunRuntime, openKernel: () => ({ ...kernel, detachMount: () => false }) };
    await created();
    chmodSync(home(), 0o777);
    const host = await directHost({}, confined);
    await withSilentFuse(home(), UID + 1, async (mounted) => {
      for (const closing of [await host.shutAccount(stored()), await host.removeAccount(stored())]) {
        expect([closing.refused, mounted()]).toEqual([true, true]);
        expect(closing.owed.join(" ")).toContain(`${home()} is a FUSE mount point: unmount it`);
      }
    });
    expect(await host.shutAccount(stored())).toEqual(CLOSED);
    expect(ownerOf(home())).toEqual(shutState);
    expect(await host.removeAccount(stored())).toEqual(CLOSED);
  });

  test("a mount of root's over the home is left, and said; the account is shut all the same", async () => {
    const host = await created();
    await withSilentFuse(home(), 0, async (mounted) => {
      const { refused, owed } = await host.shutAccount(stored());
      expect([refused, mounted()]).toEqual([true, true]);
      expect(owed.join(" ")).toContain("is a FUSE mount point: unmount it");
    });
    expect(await host.shutAccount(stored())).toEqual(CLOSED);
  });

  test("an immutable home is shut, and the account with a shut home is deleted whole", async () => {
    const host = await created();
    expect(run("chattr", "+i", home()).status).toBe(0);
    expect(await host.shutAccount(stored())).toEqual(CLOSED);
    expect(ownerOf(home())).toEqual(shutState);
    expect(await host.removeAccount(stored())).toEqual(CLOSED);
    expect(existsSync(home())).toBe(false);
  });

  test("createAccount() of an account that is there and shut keeps its home", async () => {
    const host = await created();
    await host.shutAccount(stored());
    await host.createAccount(stored());
    expect(existsSync(join(home(), ".forward"))).toBe(true);
    expect(ownerOf(home())).toEqual(openState());
  });
});

function eximConfiguration(directory: string): string {
  return `primary_hostname = localhost
domainlist local_domains = localhost
spool_directory = ${directory}/spool
log_file_path = ${directory}/log-%s
keep_environment =
never_users = root
begin routers
forwarding:
  driver = redirect
  domains = localhost
  check_local_user
  file = $home/.forward
  pipe_transport = piped
  file_transport = kept
local:
  driver = accept
  domains = localhost
  check_local_user
  transport = kept
begin transports
piped:
  driver = pipe
kept:
  driver = appendfile
  file = ${directory}/box/kept
  create_directory = false
  mode = 0666
`;
}
