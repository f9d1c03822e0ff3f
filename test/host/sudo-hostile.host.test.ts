/** Sudo mode against homes that a hostile owner set up, and against what they run meanwhile. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { SHORT_HANG } from "../support/hang.ts";
import { describeOnHost, fileOf } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { describeTree } from "../support/key-file-lab.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import { createSudoLab, NAME, OTHER, run, type SudoLab, shadowOf, startAs, stored, UID } from "../support/sudo-lab.ts";
import { until } from "../support/until.ts";

// Real commands and logins, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

let lab: SudoLab;
let host: RemoteHost;
let sshd: TestSshd;
let victim: string;
let oldKey: ReturnType<TestSshd["makeKey"]>;
let newKey: ReturnType<TestSshd["makeKey"]>;

/** `held`: the file is right in the end; `refused`: the call fails and the account can still be shut; `either`: a race. */
type Outcome = "held" | "refused" | "either";

const LAYOUTS: readonly (readonly [string, Outcome, () => unknown])[] = [
  ["no .ssh", "held", () => lab.asAccount("rm -r .ssh")],
  ["a .ssh that links to root's directory", "refused", () => lab.asAccount(`rm -r .ssh; ln -s ${victim} .ssh`)],
  [
    "a .ssh that links to root's closed directory",
    "refused",
    () => lab.asAccount(`rm -r .ssh; ln -s ${victim}/closed .ssh`),
  ],
  ["a .ssh that links nowhere", "refused", () => lab.asAccount("rm -r .ssh; ln -s /nonexistent/x .ssh")],
  ["a .ssh that links to another directory of theirs", "refused", () => lab.asAccount("mv .ssh real; ln -s real .ssh")],
  ["a .ssh that is a file", "refused", () => lab.asAccount("rm -r .ssh; echo x > .ssh")],
  ["a .ssh that is a FIFO", "refused", () => lab.asAccount("rm -r .ssh; mkfifo .ssh")],
  ["a .ssh of root's", "refused", () => chownSync(lab.ssh, 0, 0)],
  ["a file that links to root's", "held", () => lab.asAccount(`ln -sf ${victim}/authorized_keys .ssh/authorized_keys`)],
  [
    "a file that links to a closed one",
    "held",
    () => lab.asAccount(`ln -sf ${victim}/closed/file .ssh/authorized_keys`),
  ],
  ["a file that links nowhere", "held", () => lab.asAccount("ln -sf /nonexistent .ssh/authorized_keys")],
  [
    "a file that links to the service's own memory",
    "held",
    () => lab.asAccount("ln -sf /proc/self/mem .ssh/authorized_keys"),
  ],
  ["a file that is a FIFO", "held", () => lab.asAccount("rm .ssh/authorized_keys; mkfifo .ssh/authorized_keys")],
  [
    "a file that is a hard link to root's",
    "held",
    () => {
      rmSync(lab.keys);
      linkSync(join(victim, "file"), lab.keys);
    },
  ],
  [
    "an empty directory in the file's place",
    "refused",
    () => lab.asAccount("rm .ssh/authorized_keys; mkdir .ssh/authorized_keys"),
  ],
  [
    "a full directory in the file's place",
    "refused",
    () => lab.asAccount("cd .ssh; rm authorized_keys; mkdir -p authorized_keys/a/b"),
  ],
  ["a .ssh of mode 000", "held", () => lab.asAccount("chmod 000 .ssh")],
  ["a .ssh open to all, with setgid", "held", () => lab.asAccount("chmod 2777 .ssh")],
  ["a home of mode 000", "held", () => lab.asAccount("chmod 000 .")],
  ["a file of mode 0666", "held", () => lab.asAccount("chmod 0666 .ssh/authorized_keys")],
  ["an endless file", "held", () => lab.asAccount("truncate -s 1T .ssh/authorized_keys")],
  ["an immutable file", "refused", () => run("chattr", "+i", lab.keys)],
  ["an immutable .ssh", "refused", () => run("chattr", "+i", lab.ssh)],
  ["a .ssh that is a mount point", "refused", () => run("mount", "-t", "tmpfs", "-o", `uid=${UID}`, "tmpfs", lab.ssh)],
  [
    "a home that is a link",
    "refused",
    () => {
      renameSync(lab.home(), lab.home(OTHER));
      symlinkSync(lab.home(OTHER), lab.home());
    },
  ],
  ["a home of another's", "refused", () => chownSync(lab.home(), UID + 50, UID + 50)],
  ["no home", "refused", () => rmSync(lab.home(), { recursive: true })],
  ["an owner who swaps .ssh with a link", "either", () => race("exchange-directory", lab.home())],
  ["an owner who swaps the file with a link", "either", () => race("exchange-file", lab.ssh)],
  [
    "an owner who holds a lease on the file",
    "held",
    () => race("lease", lab.ssh, () => readFileSync(join(lab.ssh, "leased"), "utf8") !== ""),
  ],
  ["an owner who stops what runs as them", "either", () => interfere("SIGSTOP")],
  ["an owner who kills what runs as them", "either", () => interfere("SIGKILL")],
  ["an owner who puts the key back at once", "either", () => putBack()],
];

/** Once the owner's program is at it: by default, has the link that it swaps. */
async function race(
  mode: string,
  directory: string,
  ready = () => lstatSync(join(directory, "decoy")).isSymbolicLink(),
): Promise<void> {
  startAs(UID, process.execPath, join(import.meta.dir, "../support/home-racer.ts"), mode, directory, victim);
  const soon = () => {
    try {
      return ready();
    } catch {
      return false;
    }
  };
  await until(soon);
}

/** Everything about the victim except its number of links, which replacing a hard link lowers. */
function outside(): string {
  const lines = describeTree(victim).split("\n");
  return lines
    .map((line) =>
      line
        .split(" ")
        .filter((_, index) => index !== 5)
        .join(" "),
    )
    .join("\n");
}

/** Hits everything that the service runs as the account, except very short-lived commands. */
async function interfere(signal: string): Promise<void> {
  const begun = join(lab.home(), "begun");
  startAs(UID, process.execPath, join(import.meta.dir, "../support/newcomer-stopper.ts"), signal, begun);
  await until(() => existsSync(begun));
}

async function putBack(): Promise<void> {
  const line = `${oldKey.key.type} ${oldKey.key.base64}`;
  startAs(UID, "/bin/sh", "-c", `cd ${lab.ssh}; while :; do echo ${line} > k; mv k authorized_keys; done`);
  await until(() => readFileSync(lab.keys, "utf8") === `${line}\n`);
}

describeOnHost("sudo mode against the hostile", () => {
  beforeAll(async () => {
    lab = createSudoLab();
    victim = join(lab.base, "victim");
    sshd = await startSshd(lab.base, ["UsePAM yes"]);
    [oldKey, newKey] = [sshd.makeKey(1), sshd.makeKey(2)];
    host = lab.startHost();
  });
  afterAll(() => {
    host?.stop();
    sshd?.stop();
    lab?.remove();
  });

  describe("layouts", () => {
    beforeEach(async () => {
      mkdirSync(join(victim, "closed"), { recursive: true });
      chmodSync(join(victim, "closed"), 0o700);
      for (const name of ["file", "authorized_keys", "closed/file", "closed/authorized_keys"]) {
        writeFileSync(join(victim, name), "precious\n", { mode: 0o644 });
      }
      await host.createAccount(stored());
      await host.writeKeys(stored({ keys: [oldKey.key] }));
    });
    afterEach(() => {
      lab.cleanUp();
      rmSync(victim, { recursive: true });
    });

    test.each(LAYOUTS)(
      "revoking with %s: %s, the victim untouched, the key dead, and nothing waited for",
      async (_, expected, make) => {
        const next = stored({ keys: [newKey.key] });
        expect(sshd.login(NAME, oldKey.path)).toBe(true);
        await make();
        const before = outside();
        const started = performance.now();
        const taken = await host.takeKey(next, oldKey.key.fingerprint);
        const failure = taken.rewritten && taken.owed.length === 0 ? undefined : taken;
        expect(performance.now() - started).toBeLessThan(SHORT_HANG);
        if (expected !== "either")
          expect([failure === undefined ? "held" : "refused", failure]).toEqual([expected, failure]);
        if (failure !== undefined) {
          expect(failure.rewritten ? failure.owed.join() : failure.problem).toContain(NAME);
          // What a revocation does when the file cannot be rewritten.
          await host.shutAccount(next);
          expect(shadowOf()).toMatchObject({ expires: 1 });
        } else if (expected === "held") {
          const file = lstatSync(lab.keys);
          expect([file.isFile(), file.uid, file.gid, file.mode & 0o7777, file.nlink]).toEqual([
            true,
            UID,
            UID,
            0o600,
            1,
          ]);
          expect(lstatSync(lab.ssh).mode & 0o7777).toBe(0o700);
          expect(readFileSync(lab.keys, "utf8")).toBe(fileOf(next));
          expect(sshd.login(NAME, newKey.path)).toBe(true);
        } else {
          // The service sees it at the next check, and shuts what it cannot correct.
          await host.shutAccount(next);
          const left = existsSync(lab.keys) ? readFileSync(lab.keys, "utf8") : "";
          expect(left).not.toContain(oldKey.key.base64);
        }
        expect(sshd.login(NAME, oldKey.path)).toBe(false);
        expect(outside()).toBe(before);
      },
    );

    test.each(["ln -s real .ssh", "echo x > .ssh", "mkfifo .ssh", "ln -s /nonexistent .ssh", "ln -s ../victim .ssh"])(
      "disabling works although the owner blocks the path: %s",
      async (block) => {
        lab.asAccount(`mv .ssh real; ${block}`);
        expect(await host.shutAccount(stored())).toMatchObject({ refused: true });
        expect(shadowOf()).toMatchObject({ expires: 1 });
        await host.openAccount(stored());
        expect(sshd.login(NAME, oldKey.path)).toBe(false);
        expect(await host.reconcile([stored()], true)).toEqual([]);
      },
    );
  });
});
