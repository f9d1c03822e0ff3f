/** Taking over an account that somebody else made, and giving it back: each can be repeated from wherever it was cut short. */

import { closeSync, existsSync, fchmodSync, fstatSync, lstatSync, renameSync } from "node:fs";
import type { FoundAccount, NewName } from "../../protocol/adoption.ts";
import { UamError } from "../../shared/errors.ts";
import { isMarked, type PasswdEntry, readAccounts } from "../account.ts";
import { applyInOrder, type Executor } from "../executor.ts";
import { keepJobs } from "../jobs/kept-jobs.ts";
import { readJobs } from "../jobs/spool.ts";
import { readKeyFile } from "../key-file/key-file-text.ts";
import { keyFileOf } from "../key-file/key-path.ts";
import {
  type Change,
  planEndProcesses,
  planMarkerGroup,
  planNoAgeing,
  planNoJobs,
  SHUT_DAY,
  splitHome,
} from "../plan/plan.ts";
import { openDirectory, openTrusted, readMounts } from "../safe-open.ts";
import type { HostSettings } from "../settings.ts";
import { type AdoptionRecord, findRecord, type IdRange, markRecord, removeRecord, writeRecord } from "./record.ts";
import { setPasswordHash, shadowFieldsOf } from "./shadow.ts";
import { subordinateOf } from "./ways-in.ts";

export interface Means {
  readonly settings: HostSettings;
  readonly executor: Executor;
  /** Where the records are. */
  readonly directory: string;
}

const USERMOD = "/usr/sbin/usermod";
const TRIES = 3;
const SPOOLS = ["/var/mail", "/var/spool/mail"];

/** See `Adopter.take`. */
export async function takeAccount(means: Means, found: FoundAccount, { name }: NewName): Promise<void> {
  const { settings, executor, directory } = means;
  const entry = readAccounts().passwd.get(found.name);
  if (entry?.uid !== found.uid || entry.home !== found.home)
    throw new UamError("conflict", `The account ${found.name} has changed meanwhile: look at it again`);
  if (findRecord(directory, found.uid) !== undefined)
    throw new UamError("conflict", `An earlier adoption of ${found.name} is not finished: run "uam reconcile"`);
  const record = recordOf(found, entry, name);
  writeRecord(directory, record);
  // From here on nobody logs in; then nothing is left that could put a key back, or keep the name in use.
  await applyInOrder(executor, [usermod(["-e", String(SHUT_DAY)], found.name), ...planEndProcesses(entry, true)]);
  await keepJobs({ name, uid: found.uid }, { read: () => readJobs(entry) });
  const files = record.keyFiles.map(({ path }) => keyFileOf(path, entry)).filter(({ inHome }) => inHome);
  await applyInOrder(executor, [
    ...planNoJobs(entry),
    ...planEndProcesses(entry),
    ...files.map((file): Change => ({ kind: "retire-keys", file })),
    ...subordinates(record, "del", found.name),
    ...planMarkerGroup(settings),
  ]);
  const home = `${splitHome(found.home).base}/${name}`;
  moveHome(found.home, home);
  const groups = [settings.markerGroup, ...settings.groups].join(",");
  const naming = name === found.name ? [] : ["-l", name];
  const change = usermod([...naming, "-d", home, "-e", String(SHUT_DAY), "-p", "*", "-G", groups], found.name);
  await whileQuiet(executor, entry, change);
  await applyInOrder(executor, [...renameGroup(found.name, name), ...planNoAgeing({ name, uid: found.uid })]);
  moveMail(found.name, name, found.uid);
}

/** See `Adopter.giveBack`. */
export async function giveAccountBack(means: Means, uid: number): Promise<void> {
  const { settings, executor, directory } = means;
  const record = findRecord(directory, uid);
  if (record === undefined) return;
  if (record.state === "held") markRecord(directory, uid, "returning");
  const table = readAccounts();
  const [current] = (table.namesByUid.get(uid) ?? []).filter((name) => name === record.name || name === record.former);
  const entry = current === undefined ? undefined : table.passwd.get(current);
  // Somebody removed it: there is nothing to give back.
  if (entry === undefined) return removeRecord(directory, uid);
  await applyInOrder(executor, [usermod(["-e", String(SHUT_DAY)], entry.name), ...planEndProcesses(entry)]);
  if (isMarked(table, entry, settings.markerGroup)) {
    const keys = keyFileOf(settings.authorizedKeysFile, entry);
    const place = keys.owned[0] ?? keys.file;
    if (!keys.inHome) await applyInOrder(executor, [{ kind: "set-aside", base: keys.trusted, path: [place], uid }]);
  }
  moveHome(`${splitHome(record.home).base}/${record.name}`, record.home);
  const naming = entry.name === record.former ? [] : ["-l", record.former];
  const groups = record.groups.filter((group) => table.groups.has(group)).join(",");
  await whileQuiet(executor, entry, usermod([...naming, "-d", record.home, "-G", groups], entry.name));
  const owner = { ...entry, name: record.former, home: record.home };
  await applyInOrder(executor, [
    ...renameGroup(record.name, record.former),
    { kind: "open-home", owner },
    ...subordinates(record, "add", record.former),
    ...record.keyFiles.map(({ path, text }): Change => {
      return { kind: "write-keys", file: keyFileOf(path, owner), text, purpose: "give" };
    }),
  ]);
  setHomeMode(record);
  moveMail(record.name, record.former, uid);
  const [password = "*", changed = "", minimum = "", maximum = "", warn = "", inactive = "", expires = ""] =
    record.shadow;
  await setPasswordHash(record.former, password);
  const ageing = ["-d", changed || "-1", "-m", minimum || "-1", "-M", maximum || "-1", "-W", warn || "-1"];
  await applyInOrder(executor, [
    command(["/usr/bin/chage", ...ageing, "-I", inactive || "-1", "--", record.former]),
    // Last: until then nobody logs in.
    usermod(["-e", expires], record.former),
  ]);
  removeRecord(directory, uid);
}

function recordOf(found: FoundAccount, entry: PasswdEntry, name: string): AdoptionRecord {
  const ground = { mounts: readMounts() };
  return {
    uid: found.uid,
    former: found.name,
    name,
    state: "taking",
    keys: found.keyFiles.flatMap(({ path, keys }) => keys.map((key) => ({ ...key, path }))),
    home: found.home,
    homeMode: lstatSync(found.home).mode & 0o7777,
    groups: found.groups,
    shadow: shadowFieldsOf(found.name),
    keyFiles: found.keyFiles.flatMap(({ path }) => {
      const file = keyFileOf(path, entry);
      const { text, problem } = readKeyFile(file, ground);
      if (problem !== undefined) throw new UamError("conflict", `${path} ${problem}: make it an ordinary file first`);
      return file.inHome && text !== "" ? [{ path, text }] : [];
    }),
    subuid: subordinateOf("subuid", found.name),
    subgid: subordinateOf("subgid", found.name),
  };
}

/** Both are in the same directory, which is root's. */
function moveHome(from: string, to: string): void {
  if (from === to || !existsSync(from)) return;
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined)
    throw new UamError("conflict", `${to} exists already: move it away first`);
  renameSync(from, to);
}

/** Through the directory itself: nothing of the account's runs, but nothing is taken for granted either. */
function setHomeMode({ home, homeMode, uid }: AdoptionRecord): void {
  const { base, name } = splitHome(home);
  const top = openTrusted(base);
  try {
    const fd = openDirectory(top, name);
    try {
      if (fstatSync(fd).uid === uid) fchmodSync(fd, homeMode);
    } finally {
      closeSync(fd);
    }
  } finally {
    closeSync(top);
  }
}

/** The spool's directory belongs to root, and only its owner may remove a file there. */
function moveMail(from: string, to: string, uid: number): void {
  for (const spool of from === to ? [] : SPOOLS) {
    const stat = lstatSync(`${spool}/${from}`, { throwIfNoEntry: false });
    if (stat?.isFile() !== true || stat.uid !== uid) continue;
    if (lstatSync(`${spool}/${to}`, { throwIfNoEntry: false }) === undefined)
      renameSync(`${spool}/${from}`, `${spool}/${to}`);
  }
}

/** usermod refuses to rename an account that runs something; what was just ended may have started it. */
async function whileQuiet(executor: Executor, account: PasswdEntry, change: Change): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await applyInOrder(executor, [change]);
    } catch (error) {
      if (tries === TRIES) throw error;
      await applyInOrder(executor, planEndProcesses(account));
    }
  }
}

function renameGroup(from: string, to: string): readonly Change[] {
  const { groups } = readAccounts();
  if (from === to || !groups.has(from) || groups.has(to)) return [];
  return [command(["/usr/sbin/groupmod", "-n", to, "--", from])];
}

function subordinates({ subuid, subgid }: AdoptionRecord, verb: "add" | "del", name: string): readonly Change[] {
  const options = (kind: "subuid" | "subgid", wanted: readonly IdRange[]) => {
    const there = subordinateOf(kind, name);
    const isThere = ({ first }: IdRange) => there.some((range) => range.first === first);
    return wanted
      .filter((range) => isThere(range) === (verb === "del"))
      .flatMap(({ first, count }) => [`--${verb}-${kind}s`, `${first}-${first + count - 1}`]);
  };
  const all = [...options("subuid", subuid), ...options("subgid", subgid)];
  return all.length === 0 ? [] : [usermod(all, name)];
}

function usermod(options: readonly string[], name: string): Change {
  return command([USERMOD, ...options, "--", name]);
}

function command(argv: readonly string[]): Change {
  return { kind: "account-command", argv, accept: [0] };
}
