/** Other ways into an account than its keys, and what runs for it without a login. Looks only. */

import { closeSync, lstatSync, readFileSync } from "node:fs";
import { counted } from "../../shared/text/counted.ts";
import type { PasswdEntry } from "../account.ts";
import { findCommand, runCommand } from "../command.ts";
import { readJobs } from "../jobs/spool.ts";
import { BOUNDS, findLeftPrograms } from "../left-programs.ts";
import { splitHome } from "../plan/plan.ts";
import { at, errorCode, openDirectory, openTrusted } from "../safe-open.ts";
import { type SshdSettings, valuesOf } from "../sshd/sshd-settings.ts";

/** Files of a home that let somebody in, or run something, besides the key files. */
const FILES = [".rhosts", ".shosts", ".k5login", ".forward", ".ssh/rc", ".ssh/environment"];
const SUDO = "/usr/bin/sudo";
/** How long programs are looked for, in milliseconds: somebody waits for the answer. */
const SEARCH = 3_000;

/** The ways that sshd itself offers beside the key files, as sentences. Pure. */
export function waysOfSshd(settings: SshdSettings, hasPassword: boolean): readonly string[] {
  const is = (name: string, value: string) => valuesOf(settings, name)[0] === value;
  const other = (name: string) => valuesOf(settings, name).find((value) => value !== "none" && value !== "");
  const command = other("AuthorizedKeysCommand");
  const authorities = other("TrustedUserCAKeys");
  const principals = other("AuthorizedPrincipalsFile");
  const accepts = is("PasswordAuthentication", "yes") || is("KbdInteractiveAuthentication", "yes");
  return [
    ...(hasPassword && accepts ? ["sshd accepts its password"] : []),
    ...(command === undefined ? [] : [`sshd asks ${command} for keys`]),
    ...(authorities === undefined
      ? []
      : [`sshd accepts certificates by ${authorities}${principals === undefined ? "" : `, for ${principals}`}`]),
    ...(is("HostbasedAuthentication", "yes") ? ["sshd believes other hosts (HostbasedAuthentication)"] : []),
    ...(is("GSSAPIAuthentication", "yes") ? ["sshd accepts Kerberos tickets (GSSAPIAuthentication)"] : []),
  ];
}

/** Jobs, files, programs and subordinate ids, as sentences. */
export async function waysOfHost(entry: PasswdEntry): Promise<readonly string[]> {
  const { lingering, files, more } = await readJobs(entry);
  const jobs = [...files.map(({ path }) => path), ...(more > 0 ? [`${more} more`] : [])];
  const { base } = splitHome(entry.home);
  const programs = await findLeftPrograms((id) => id === entry.uid, {
    homes: base,
    bounds: { ...BOUNDS, milliseconds: SEARCH },
  });
  return [
    ...filesInHome(entry).map((path) => `There is ${path}`),
    ...(jobs.length === 0 ? [] : [`Jobs start without a login: ${jobs.join(", ")}`]),
    ...(lingering ? ["Its systemd services run without a login (lingering)"] : []),
    ...programs.found.map(({ path }) => `${path} gives whoever starts it the account's rights`),
    ...(programs.unseen.length === 0
      ? []
      : [`Programs with the account's rights were not looked for everywhere: ${programs.unseen.join(", ")}`]),
    ...["subuid", "subgid"].flatMap((file) => {
      const count = subordinateOf(file, entry.name).length;
      return count === 0 ? [] : [`It has ${counted(count, "range")} of /etc/${file}`];
    }),
  ];
}

/** The lines of subuid(5) that are the account's, as `first` and `count`. */
export function subordinateOf(
  file: string,
  name: string,
): readonly { readonly first: number; readonly count: number }[] {
  let text: string;
  try {
    text = readFileSync(`/etc/${file}`, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  return text.split("\n").flatMap((line) => {
    const [owner, first, count] = line.split(":");
    return owner === name && Number(count) > 0 ? [{ first: Number(first), count: Number(count) }] : [];
  });
}

/** The rules that sudo, asked as root, has for the account; a line each. */
export async function sudoRules(name: string): Promise<readonly string[]> {
  if (findCommand(SUDO) === undefined) return [];
  const { stdout, stderr } = await runCommand([SUDO, "-n", "-l", "-U", name]);
  const lines = stdout.split("\n").map((line) => line.trim());
  const start = lines.findIndex((line) => /may run the following commands/.test(line));
  if (start >= 0) return lines.slice(start + 1).filter((line) => line !== "");
  if (/is not allowed to run sudo/.test(stdout + stderr)) return [];
  return [`sudo does not say what it allows ${name}: ${stderr.trim().split("\n").at(-1) || "no answer"}`];
}

/** A link on the way counts as nothing: neither is it followed. */
function filesInHome({ home }: PasswdEntry): readonly string[] {
  const { base, name } = splitHome(home);
  const opened: number[] = [];
  try {
    opened.push(openTrusted(base));
    opened.push(openDirectory(opened[0] as number, name));
    return FILES.filter((path) => isThere(opened[1] as number, path.split("/"))).map((path) => `${home}/${path}`);
  } catch {
    return [];
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function isThere(directory: number, [first = "", ...rest]: readonly string[]): boolean {
  if (rest.length === 0) return lstatSync(at(directory, first), { throwIfNoEntry: false }) !== undefined;
  let inner: number;
  try {
    inner = openDirectory(directory, first);
  } catch {
    return false;
  }
  try {
    return isThere(inner, rest);
  } finally {
    closeSync(inner);
  }
}
