/** Tries a profile that this host holds, with an account of nobody's that is gone afterwards. As root. */

import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Account, Host, HostKey } from "../../../protocol/host.ts";
import type { HostProfile } from "../../../protocol/profile.ts";
import { UamError } from "../../../shared/errors.ts";
import { isWithin, TRIAL_UIDS } from "../../../shared/system/uids.ts";
import { hostAccountOf } from "../../../shared/text/account-name.ts";
import { MINUTE } from "../../../shared/time/clock.ts";
import { readAccounts } from "../../account.ts";
import { runCommand } from "../../command.ts";
import { errorCode } from "../../safe-open.ts";
import type { HostSettings } from "../../settings.ts";
import { settingsCommand } from "../../sshd/sshd.ts";
import { askedForSettings, parseSshdSettings, valuesOf } from "../../sshd/sshd-settings.ts";
import { pathsOf, readHeld } from "../profile-files.ts";
import { PRESENT, startAuthenticator, VERIFIED } from "./authenticator.ts";
import type { Door } from "./client.ts";
import type { Deed } from "./deed.ts";
import { DEEDS, type Tried, tryProfile } from "./trial.ts";

/** A user who is called so keeps it, and nothing is tried: its uid is not of these. */
const NAME = hostAccountOf("uam-profile-try");
const DIRECTORY = "/run/uam-try";
/** The key lets in for no longer, whatever happens to this process. */
const LASTS = 15 * MINUTE;

export interface TrialHost {
  readonly host: Host;
  readonly settings: Pick<HostSettings, "tools" | "profilePaths" | "homeBase">;
  readonly now: Date;
}

/**
 * Tries all that clients do against this host's own sshd. What an earlier trial left that was killed is removed first. Throws `not_found` for
 * a profile that the host does not hold, `conflict` while another trial is under way, `internal` where the account cannot be made or removed.
 */
export async function tryHeldProfile(
  trialHost: TrialHost,
  name: string,
  deeds: readonly Deed[] = DEEDS,
): Promise<readonly Tried[]> {
  const profile = heldProfile(trialHost.settings, name);
  await removeLeft(trialHost);
  takeTurn();
  try {
    return await tryWith(trialHost, profile, deeds);
  } finally {
    await removeLeft(trialHost);
    rmSync(DIRECTORY, { recursive: true, force: true });
  }
}

async function tryWith(
  { host, settings, now }: TrialHost,
  profile: HostProfile,
  deeds: readonly Deed[],
): Promise<readonly Tried[]> {
  const uid = freeUid();
  const { door, key, close } = await openDoor(profile, await addressOf(settings));
  try {
    const expireAt = new Date(now.getTime() + LASTS);
    const account: Account = { name: NAME, uid, expireAt, open: true, keys: [key], profile: profile.name };
    await host.createAccount(account);
    await host.writeKeys(account);
    return await tryProfile(door, profile, { uid, home: join(settings.homeBase, NAME) }, deeds);
  } finally {
    close();
  }
}

function heldProfile(settings: TrialHost["settings"], name: string): HostProfile {
  const held = readHeld(pathsOf(settings));
  const block = held.get(name);
  if (block === undefined) {
    const names = [...held.keys()];
    const others = names.length === 0 ? "it holds none" : `it holds ${names.join(", ")}`;
    throw new UamError("not_found", `This host holds no profile named ${JSON.stringify(name)}: ${others}`);
  }
  if (block.isShut) throw new UamError("conflict", `This host lets nobody in by the profile ${name}: see uam doctor`);
  return block.profile;
}

/** Takes what an earlier trial left, or this one, off the host; an account of that name with a uid of other sort is left alone. */
async function removeLeft({ host, settings }: Pick<TrialHost, "host" | "settings">): Promise<void> {
  const uid = readAccounts().passwd.get(NAME)?.uid;
  if (uid !== undefined) {
    if (!isWithin(uid, TRIAL_UIDS))
      throw new UamError(
        "conflict",
        `The account ${NAME} has the uid ${uid}, which no trial gives: remove it yourself`,
      );
    if (isUnderWay()) throw new UamError("conflict", "Another trial is under way");
    const { owed } = await host.removeAccount({ name: NAME, uid });
    if (owed.length > 0) throw new UamError("internal", `The account ${NAME} is not gone: ${owed.join("; ")}`);
  }
  for (const { profile } of readHeld(pathsOf(settings)).values()) {
    if (profile.kind !== "sftp" || profile.directory === undefined) continue;
    const own = join(profile.directory, NAME);
    const owner = lstatSync(own, { throwIfNoEntry: false })?.uid;
    if (owner !== undefined && isWithin(owner, TRIAL_UIDS)) rmSync(own, { recursive: true, force: true });
  }
}

/** Whether a process other than this one has its turn. */
function isUnderWay(): boolean {
  try {
    const holder = Number(readFileSync(join(DIRECTORY, "pid"), "utf8"));
    if (holder === selfPid()) return false;
    return readFileSync(`/proc/${holder}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

function takeTurn(): void {
  if (isUnderWay()) throw new UamError("conflict", "Another trial is under way");
  rmSync(DIRECTORY, { recursive: true, force: true });
  try {
    mkdirSync(DIRECTORY, { mode: 0o711 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    throw new UamError("conflict", "Another trial is under way");
  }
  // A socket in it is one that accounts may be connected to, or not.
  chmodSync(DIRECTORY, 0o711);
  writeFileSync(join(DIRECTORY, "pid"), String(selfPid()), { mode: 0o600 });
}

function selfPid(): number {
  return Number(/^\d+/.exec(readFileSync("/proc/self/stat", "utf8"))?.[0]);
}

function freeUid(): number {
  const { passwd, groups } = readAccounts();
  const taken = new Set([...[...passwd.values()].map(({ uid }) => uid), ...[...groups.values()].map(({ gid }) => gid)]);
  for (let uid = TRIAL_UIDS.last; uid >= TRIAL_UIDS.first; uid--) if (!taken.has(uid)) return uid;
  throw new UamError("conflict", `The uids from ${TRIAL_UIDS.first} to ${TRIAL_UIDS.last} are all taken`);
}

/** Where this host's sshd listens, as its settings say. */
async function addressOf({ tools }: TrialHost["settings"]): Promise<Pick<Door, "address" | "port">> {
  const { exitCode, stdout, stderr } = await askedForSettings(settingsCommand(NAME, tools));
  if (exitCode !== 0) throw new UamError("internal", `sshd does not say where it listens: ${stderr.trim()}`);
  const said = parseSshdSettings(stdout);
  const listens = valuesOf(said, "ListenAddress").map((value) => /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(value) ?? []);
  const [, address = "0.0.0.0", port] = listens[0] ?? [];
  const isAny = address === "0.0.0.0" || address === "::";
  return {
    address: isAny ? (address === "::" ? "::1" : "127.0.0.1") : address,
    port: Number(port ?? valuesOf(said, "Port")[0] ?? 22),
  };
}

interface Opened {
  readonly door: Door;
  readonly key: HostKey;
  readonly close: () => void;
}

/** A key that only this process has: a security key in software where the profile asks for one. */
async function openDoor(profile: HostProfile, address: Pick<Door, "address" | "port">): Promise<Opened> {
  // Of a name that nobody knows before: clients' files are called after it.
  const directory = mkdtempSync(join(DIRECTORY, "try-"));
  chmodSync(directory, 0o711);
  const keyPath = join(directory, "key");
  const common = { ...address, user: NAME, keyPath, directory };
  const keyOf = async (close: () => void, agent?: string): Promise<Opened> => {
    const [type = "", base64 = ""] = readFileSync(`${keyPath}.pub`, "utf8").trim().split(" ");
    const { stdout } = await runCommand(["/usr/bin/ssh-keygen", "-l", "-f", `${keyPath}.pub`]);
    const fingerprint = stdout.split(" ")[1] ?? "";
    return { door: { ...common, agent }, key: { id: 0, type, base64, fingerprint }, close };
  };
  if (profile.secondFactor === "verified") {
    const agent = join(directory, "authenticator");
    const { type, base64, close } = await startAuthenticator(agent, PRESENT | VERIFIED);
    writeFileSync(`${keyPath}.pub`, `${type} ${base64}\n`, { mode: 0o600 });
    return keyOf(close, agent);
  }
  const made = await runCommand(["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keyPath]);
  if (made.exitCode !== 0) throw new UamError("internal", `No key could be made: ${made.stderr.trim()}`);
  return keyOf(() => undefined);
}
