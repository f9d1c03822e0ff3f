/** The host's own account databases, and whether an account in them is ours. */

import { readFileSync } from "node:fs";
import type { AccountPresence, AccountRef } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import { hostAccountOf, USERNAME_PATTERN } from "../shared/text/account-name.ts";
import { findCommand, runCommand } from "./command.ts";
import { errorCode } from "./safe-open.ts";

export interface PasswdEntry {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

export interface ShadowEntry {
  readonly password: string;
  /** Days since 1970 (shadow(5)); undefined for an account that never expires. */
  readonly expires: number | undefined;
  /** True if password ageing or inactivity could refuse a login. */
  readonly ageing: boolean;
}

/** One reading of the local databases. */
export interface AccountTable {
  readonly passwd: ReadonlyMap<string, PasswdEntry>;
  readonly namesByUid: ReadonlyMap<number, readonly string[]>;
  /** Group names to gid and members. */
  readonly groups: ReadonlyMap<string, { readonly gid: number; readonly members: ReadonlySet<string> }>;
  /** Undefined where this process may not read it. */
  readonly shadow: ReadonlyMap<string, ShadowEntry> | undefined;
}

/** Most groups have no member that is named. */
const NOBODY: ReadonlySet<string> = new Set();
const NAME = new RegExp(`^${hostAccountOf(USERNAME_PATTERN)}$`);
const LOWEST_UID = 1000;
const HIGHEST_UID = 0xffff_fffd;

/** Throws `internal` unless the name is one this service creates and the uid is an ordinary one; the last line of defence. */
export function requireRef(account: AccountRef): void {
  if (!NAME.test(account.name)) {
    throw new UamError("internal", `Not the name of an account of this service: ${JSON.stringify(account.name)}`);
  }
  if (!Number.isInteger(account.uid) || account.uid < LOWEST_UID || account.uid > HIGHEST_UID) {
    throw new UamError(
      "internal",
      `Not the uid of an account of this service: ${account.name} with uid ${account.uid}`,
    );
  }
}

/** The contents of the local databases. */
export interface AccountTexts {
  readonly passwd: string;
  readonly group: string;
  readonly shadow: string | undefined;
}

/** Reads /etc/passwd, /etc/group and, where allowed, /etc/shadow; `only` as `accountsIn` has it. */
export function readAccounts(only?: AccountRef): AccountTable {
  const texts = { passwd: readFileSync("/etc/passwd", "utf8"), group: readFileSync("/etc/group", "utf8") };
  return accountsIn({ ...texts, shadow: readShadow() }, only);
}

/** Makes a reader of /etc/group alone, which parses it again only once it differs. */
export function createGroupsReader(): () => AccountTable["groups"] {
  let parsed: { readonly text: string; readonly groups: AccountTable["groups"] } | undefined;
  return () => {
    const text = readFileSync("/etc/group", "utf8");
    if (text !== parsed?.text) {
      parsed = { text, groups: accountsIn({ passwd: "", group: text, shadow: undefined }).groups };
    }
    return parsed.groups;
  };
}

/**
 * The table of all accounts; or of what concerns only one: its name, its uid, and groups that have members. Among ten thousand
 * accounts that takes a fraction of the time. Pure.
 */
export function accountsIn(texts: AccountTexts, only?: AccountRef): AccountTable {
  const isNamed = (line: string) => only === undefined || line.startsWith(`${only.name}:`);
  const passwd = new Map<string, PasswdEntry>();
  const namesByUid = new Map<number, string[]>();
  const isPasswd = (line: string) => isNamed(line) || uidIn(line) === only?.uid;
  for (const [name = "", , uid, gid, , home = ""] of parseRecords(texts.passwd, isPasswd)) {
    if (passwd.has(name)) continue;
    passwd.set(name, { name, uid: Number(uid), gid: Number(gid), home });
    const known = namesByUid.get(Number(uid));
    if (known === undefined) namesByUid.set(Number(uid), [name]);
    else known.push(name);
  }
  const groups = new Map<string, { gid: number; members: ReadonlySet<string> }>();
  const isGroup = (line: string) => isNamed(line) || (!line.endsWith(":") && isFirst(texts.group, line));
  for (const [name = "", , gid, members = ""] of parseRecords(texts.group, isGroup)) {
    if (groups.has(name)) continue;
    groups.set(name, { gid: Number(gid), members: members === "" ? NOBODY : new Set(members.split(",")) });
  }
  const shadow = texts.shadow === undefined ? undefined : parseShadow(texts.shadow, isNamed);
  return { passwd, namesByUid, groups, shadow };
}

/** The uids that the lines of passwd(5) have. Pure. */
export function uidsIn(passwd: string): ReadonlySet<number> {
  const uids = new Set<number>();
  for (const [, , uid] of parseRecords(passwd, () => true)) uids.add(Number(uid));
  return uids;
}

/** False if the name stands in an earlier line, which is the one that counts. */
function isFirst(text: string, line: string): boolean {
  const key = line.slice(0, line.indexOf(":") + 1);
  const first = text.startsWith(key) ? 0 : text.indexOf(`\n${key}`) + 1;
  return text.startsWith(line, first);
}

/** The third field of a line of passwd(5). */
function uidIn(line: string): number {
  const start = line.indexOf(":", line.indexOf(":") + 1) + 1;
  return Number(line.slice(start, line.indexOf(":", start)));
}

/**
 * The table's entry under the account's name. Present with the pinned uid, whatever groups it is in and whoever shares the uid: an
 * account that somebody took out of our group lets its keys in as before. With another uid, or under another name, it is foreign.
 */
export function presenceIn(table: AccountTable, account: AccountRef): AccountPresence {
  const entry = table.passwd.get(account.name);
  if (!entry) return (table.namesByUid.get(account.uid) ?? []).length === 0 ? "missing" : "foreign";
  return entry.uid === account.uid ? "present" : "foreign";
}

/** True if the account is in the group that marks it as ours: asked for only where access is given. */
export function isMarked({ groups }: AccountTable, { name }: Pick<AccountRef, "name">, markerGroup: string): boolean {
  return groups.get(markerGroup)?.members.has(name) === true;
}

/**
 * The account of that name, with the uid the table has; throws `conflict` if the table alone does not show it as ours, by the group
 * and by a uid that is nobody else's.
 */
export function findIn(table: AccountTable, name: string, markerGroup: string): AccountRef | undefined {
  const entry = table.passwd.get(name);
  if (entry === undefined) return undefined;
  const account = { name, uid: entry.uid };
  requireRef(account);
  if (isShownAsOurs(table, account, markerGroup)) return account;
  throw new UamError("conflict", `The account ${name} was not created by uam (group ${markerGroup}): it is left alone`);
}

/** True if the uid is that of an account of ours, and of no other. */
export function isOurs(table: AccountTable, uid: number, markerGroup: string): boolean {
  return (table.namesByUid.get(uid) ?? []).some((name) => isShownAsOurs(table, { name, uid }, markerGroup));
}

function isShownAsOurs(table: AccountTable, account: AccountRef, markerGroup: string): boolean {
  return table.namesByUid.get(account.uid)?.length === 1 && isMarked(table, account, markerGroup);
}

/**
 * True for what a crash in the middle of useradd(8) leaves: our name and pinned uid in /etc/passwd, but no shadow entry, no
 * own group or no membership yet. shadow-utils rename passwd, shadow, group, gshadow in this order.
 */
export function isHalfCreated(table: AccountTable, account: AccountRef, home: string): boolean {
  const entry = table.passwd.get(account.name);
  if (!entry || entry.uid !== account.uid || entry.home !== home || table.shadow === undefined) return false;
  if (table.namesByUid.get(account.uid)?.length !== 1) return false;
  return !table.shadow.has(account.name) || !table.groups.has(account.name);
}

/** True if the name service switch (LDAP and the like included) knows the key in that database. */
export async function knownToNameService(database: "passwd" | "group", key: string): Promise<boolean> {
  if (findCommand("/usr/bin/getent") === undefined) return false;
  const result = await runCommand(["/usr/bin/getent", database, key]);
  // getent(1): 0 found, 2 not found; anything else means that the answer is unknown.
  if (result.exitCode === 0 || result.exitCode === 2) return result.exitCode === 0;
  throw new UamError("internal", `Cannot look up ${key}: getent exited with ${result.exitCode}`);
}

/** The entry that the name service switch, LDAP and the like included, has for a name or a uid. Throws `internal` without an answer. */
export async function nameServiceEntry(key: string): Promise<PasswdEntry | undefined> {
  if (findCommand("/usr/bin/getent") === undefined) return undefined;
  const { exitCode, stdout } = await runCommand(["/usr/bin/getent", "passwd", key]);
  if (exitCode === 2) return undefined;
  const [name, , uid, gid, , home] = (stdout.split("\n")[0] ?? "").split(":");
  if (exitCode === 0 && name !== undefined && home !== undefined)
    return { name, uid: Number(uid), gid: Number(gid), home };
  throw new UamError("internal", `Cannot look up ${key}: getent exited with ${exitCode}`);
}

/** Parses shadow(5) lines, all or those wanted. */
export function parseShadow(text: string, isWanted = (_line: string) => true): ReadonlyMap<string, ShadowEntry> {
  const entries = new Map<string, ShadowEntry>();
  for (const [name = "", password = "", , minimum, maximum, warn, inactive, expires] of parseRecords(text, isWanted)) {
    const ageing = [minimum, maximum, warn, inactive].some((field) => field !== undefined && field !== "");
    entries.set(name, { password, expires: expires ? Number(expires) : undefined, ageing });
  }
  return entries;
}

function readShadow(): string | undefined {
  try {
    return readFileSync("/etc/shadow", "utf8");
  } catch (error) {
    if (errorCode(error) === "EACCES") return undefined;
    throw error;
  }
}

/** One after the other: thousands of accounts in pieces at once are tens of megabytes. */
function* parseRecords(text: string, isWanted: (line: string) => boolean): Iterable<readonly string[]> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end);
    if (line !== "" && !"#+-".includes(line.charAt(0)) && isWanted(line)) yield line.split(":");
    start = end + 1;
  }
}
