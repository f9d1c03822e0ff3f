/** An sshd that holds profiles, and an account of each: what clients are tried against. Needs root. */

import { afterAll, beforeAll, setDefaultTimeout } from "bun:test";
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectionsOf, processesOf, readProcesses } from "../../../../src/host/processes/processes.ts";
import type { Door } from "../../../../src/host/profiles/trial/client.ts";
import type { HostProfile } from "../../../../src/protocol/profile.ts";
import { run } from "../../../support/direct-host.ts";
import { forgetProfiles } from "../../../support/profiled-host.ts";
import { startSshd, type TestSshd } from "../../../support/sshd.ts";
import { until } from "../../../support/until.ts";

const RUN = process.pid % 1000;
const FIRST_UID = 50_000 + RUN * 10;
/** As every installation has them; sshd lets nobody in who is in the first and in none of the others. */
const PROFILED_GROUP = "uam-profile";
/** The program that `command` profiles of these tests may start: it repeats what it was asked, and is told. */
export const PROGRAM = `uam-test-${RUN}`;
const PROGRAM_TEXT = `#!/bin/sh
echo "asked: $SSH_ORIGINAL_COMMAND"
env
`;

export interface Member {
  readonly user: string;
  readonly uid: number;
  readonly home: string;
  readonly profile: HostProfile;
}

export interface Lab {
  readonly base: string;
  readonly sshd: TestSshd;
  /** In the order of the profiles; an account of each. */
  readonly members: readonly Member[];
  /** A directory for clients of their own. */
  readonly door: (member: Member) => Door;
}

/**
 * Everything is there before the first test and gone after the last. `profiles` is told the directory to confine to; names get the run's
 * number. `blocks` renders what sshd is told of the profiles.
 */
export function prepareLab(
  profiles: (directory: string) => readonly HostProfile[],
  blocks: (profiles: readonly HostProfile[]) => string,
): () => Lab {
  let lab: Lab | undefined;
  setDefaultTimeout(180_000);
  beforeAll(async () => {
    const base = mkdtempSync("/var/lib/uam-test-");
    chmodSync(base, 0o755);
    for (const name of ["files", "keys", "homes", "doors"]) mkdirSync(join(base, name), { mode: 0o755 });
    mkdirSync("/etc/uam-commands", { recursive: true, mode: 0o755 });
    writeFileSync(join("/etc/uam-commands", PROGRAM), PROGRAM_TEXT, { mode: 0o755 });
    const held = profiles(join(base, "files")).map((profile) => ({ ...profile, name: `${profile.name}-t${RUN}` }));
    run("groupadd", "-f", PROFILED_GROUP);
    const members = held.map((profile, index) => memberOf(base, profile, FIRST_UID + index));
    const dropIn = join(base, "profiles.conf");
    const forAll = ["Match User ext_*", `    AuthorizedKeysFile ${base}/keys/%u`, "    PermitUserRC no"];
    writeFileSync(dropIn, `${blocks(held)}${forAll.join("\n")}\n`);
    // As Debian has it.
    const debian = ["UsePAM yes", "AcceptEnv LANG LC_*", "X11Forwarding yes"];
    const subsystem = "Subsystem sftp /usr/lib/openssh/sftp-server";
    const sshd = await startSshd(base, [`Include ${dropIn}`, ...debian, subsystem]);
    const key = sshd.makeKey(1).path;
    for (const { user } of members) copyFileSync(`${key}.pub`, join(base, "keys", user));
    lab = {
      base,
      sshd,
      members,
      door: ({ user }) => {
        const directory = mkdtempSync(join(base, "doors/try-"));
        // A socket in it is one that accounts may be connected to, or not.
        chmodSync(directory, 0o711);
        return { address: "127.0.0.1", port: sshd.port, user, keyPath: key, directory };
      },
    };
  });
  afterAll(async () => {
    lab?.sshd.stop();
    for (const member of lab?.members ?? []) await removeMember(member);
    forgetProfiles(...(lab?.members ?? []).map(({ profile }) => profile.name));
    rmSync(join("/etc/uam-commands", PROGRAM), { force: true });
    if (lab !== undefined) rmSync(lab.base, { recursive: true, force: true });
  });
  return () => {
    if (lab === undefined) throw new Error("the lab is not open");
    return lab;
  };
}

function memberOf(base: string, profile: HostProfile, uid: number): Member {
  const user = `ext_tp${uid}`;
  const home = join(base, "homes", user);
  const group = `uam-p-${profile.name}`;
  run("groupadd", "-f", group);
  const options = ["-u", String(uid), "-U", "-s", "/bin/bash", "-p", "*", "-d", home, "-m"];
  const made = run("useradd", ...options, "-G", `${PROFILED_GROUP},${group}`, "--", user);
  if (made.status !== 0) throw new Error(made.stderr);
  if (profile.kind !== "shell") {
    chownSync(home, 0, 0);
    chmodSync(home, 0o700);
  }
  if (profile.kind === "sftp") {
    const own = join(profile.directory ?? "", user);
    mkdirSync(own, { mode: 0o700 });
    chownSync(own, uid, uid);
  }
  return { user, uid, home, profile };
}

async function removeMember({ user, uid }: Member): Promise<void> {
  await until(() => {
    run("pkill", "-KILL", "-U", String(uid));
    for (const { pid } of connectionsOf(readProcesses(), user)) run("kill", "-KILL", String(pid));
    return processesOf(readProcesses(), uid).length === 0;
  });
  run("userdel", "-f", "-r", "--", user);
}
