/** Directories and files of the service: who can read and write them, and whether there is room. */

import { X509Certificate } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { LIMITS_FILE } from "../install/settings.ts";
import { readLogo } from "../server/console/logo.ts";
import { publicMessage } from "../shared/errors.ts";
import { octal } from "../shared/text/octal.ts";
import { termsIn } from "../shared/text/terms.ts";
import { type Clock, DAY } from "../shared/time/clock.ts";
import { RESERVE_SIZE, reserveIn, reserveLeft } from "../shared/work/reserve.ts";
import { areaOf, type Finding } from "./finding.ts";

const MEGABYTE = 1024 * 1024;
/** PostgreSQL stops taking writes when its disk is full. */
const LEAST_FREE = 512 * MEGABYTE;
const EXPIRES_SOON = 14 * DAY;

const data = areaOf("data");

/** Checks the data directory; `fix` takes away rights that others should not have. */
export function checkDataDirectory(path: string, fix: boolean): readonly Finding[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [data.skipped(`${path} does not exist yet: uam serve creates it`)];
  if (!stat.isDirectory()) return [data.fault(`${path} is not a directory`, "set UAM_DATA_DIR to a directory")];
  return [mode(path, stat.mode, 0o711, fix), room(path)];
}

/** Checks whether the room is there that is kept for taking access away on a full disk. */
export function checkReserve(dataDir: string): readonly Finding[] {
  const path = reserveIn(dataDir);
  // The first start makes it, with the rest.
  if (!existsSync(dirname(path))) return [];
  const left = reserveLeft(path);
  const size = `${RESERVE_SIZE / MEGABYTE} MB`;
  if (left === undefined) {
    const finding = `The database has no reserve of ${size}: on a full disk nobody can be disabled`;
    return [data.note(finding, "free some space: the service lays it within a minute, where its file system can")];
  }
  if (left < RESERVE_SIZE) {
    const finding = `The reserve of the database is in use, and ${Math.floor(left / MEGABYTE)} of ${size} are left of it`;
    return [data.fault(finding, "free some space: until then nobody is given access")];
  }
  return [data.ok(`The reserve of the database is there, ${size}`)];
}

/**
 * Checks a file that only the service may read: the mail log with its one-time codes, the key of the audit log. In sudo mode root does so in
 * a directory of the service's user, who can put a link to another file there: `fix` changes no file that a link leads to, or that
 * has another name.
 */
export function checkPrivateFile(path: string, fix: boolean): readonly Finding[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? [] : [mode(path, stat.mode, 0o600, fix, closeFile)];
}

/** Checks the environment file, which can hold secrets: readable by root and by the group that the service runs as. */
export function checkEnvironmentFile(path: string, fix: boolean): readonly Finding[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? [] : [mode(path, stat.mode, 0o640, fix)];
}

/** Checks whether mail can be written to the file, without creating it. */
export function checkMailLogPlace(path: string): readonly Finding[] {
  const mail = areaOf("mail");
  const place = existsSync(path) ? path : dirname(path);
  try {
    // A data directory that does not exist yet is created with the rest.
    if (existsSync(place)) accessSync(place, constants.W_OK);
  } catch {
    return [
      mail.fault(`The mail log ${path} cannot be written`, "correct UAM_MAIL_LOG, or the permissions of the directory"),
    ];
  }
  return [mail.ok(`Mail is written to ${path} and sent to nobody`)];
}

/** Checks whether the number of processes of an account is limited; `path` is the file for pam_limits(8). */
export function checkProcessLimit(path: string): readonly Finding[] {
  if (existsSync(path)) return [];
  const finding =
    "Nothing limits how many processes an account may start: one account could use up all that the host needs to shut it";
  return [areaOf("host").note(finding, `uam install writes ${path}`)];
}

/** Where mount.fuse3(8) reads what accounts may do. */
const FUSE_FILE = "/etc/fuse.conf";

/** Checks whether accounts may mount file systems of their own that root enters, too; `path` is the file for mount.fuse3(8). */
export function checkFuse(path: string): readonly Finding[] {
  if (!existsSync(path) || !/^\s*user_allow_other\b/m.test(readFileSync(path, "utf8"))) return [];
  const finding = `${path} has user_allow_other: an account's owner can mount what keeps root waiting who looks into their home`;
  return [areaOf("host").note(finding, "remove it, unless something needs it")];
}

/** Checks what the host lets the owners of accounts do, by its own files. */
export function checkOwnersLimits(): readonly Finding[] {
  return [...checkProcessLimit(LIMITS_FILE), ...checkFuse(FUSE_FILE)];
}

/** Checks how long the TLS certificate is still valid. */
export function checkCertificate(path: string | undefined, clock: Clock): readonly Finding[] {
  if (path === undefined) return [];
  const tls = areaOf("TLS");
  const remedy = "renew it, then systemctl reload uam";
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(readFileSync(path));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [tls.fault(`${path} cannot be read as a certificate: ${why}`, "correct UAM_TLS_CERT")];
  }
  const left = new Date(certificate.validTo).getTime() - clock.now().getTime();
  if (left <= 0) return [tls.fault(`The certificate ${path} has expired`, remedy)];
  if (left < EXPIRES_SOON)
    return [tls.fault(`The certificate ${path} is valid only until ${certificate.validTo}`, remedy)];
  return [tls.ok(`The certificate is valid until ${certificate.validTo}`)];
}

/** Checks the logo of the pages: the service does not start with one that it cannot show. */
export function checkLogo(path: string | undefined): readonly Finding[] {
  if (path === undefined) return [];
  const pages = areaOf("pages");
  try {
    readLogo(path);
  } catch (error) {
    return [
      pages.fault(publicMessage(error), "correct UAM_BRAND_LOGO, or the file; the service does not start with it"),
    ];
  }
  return [pages.ok(`The logo ${path} can be shown`)];
}

/** Checks the terms of use: the service does not start with a file that it cannot read. */
export function checkTerms(path: string | undefined): readonly Finding[] {
  if (path === undefined) return [];
  const area = areaOf("terms");
  try {
    const { version = "" } = termsIn(path)() ?? {};
    return [area.ok(`The terms of use are version ${version}`)];
  } catch (error) {
    return [
      area.fault(publicMessage(error), "correct UAM_TERMS_FILE, or the file; the service does not start with it"),
    ];
  }
}

/** Takes the rights away that the mode does not have. Returns why that was not done, as a clause. */
type Close = (path: string, wanted: number) => string | undefined;

function mode(path: string, found: number, most: number, fix: boolean, close: Close = closeTrusted): Finding {
  const bits = found & 0o7777;
  const wanted = bits & most;
  if (bits === wanted) return data.ok(`${path} has mode ${octal(bits)}`);
  const problem = `${path} has mode ${octal(bits)}, which gives others more access than they need`;
  if (!fix) return data.fault(problem, `chmod ${octal(wanted)} ${path}, or uam doctor --fix`);
  const refusal = close(path, wanted);
  if (refusal !== undefined) return data.fault(`${problem}; it was left as it is, because ${refusal}`, "look at it");
  return data.fixed(`${problem}; it is now ${octal(wanted)}`);
}

/** For what only root could put a link in the place of. */
function closeTrusted(path: string, wanted: number): undefined {
  chmodSync(path, wanted);
}

function closeFile(path: string, wanted: number): string | undefined {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = fstatSync(fd);
    if (!stat.isFile()) return "it is not a file";
    if (stat.nlink !== 1) return "it has another name";
    fchmodSync(fd, stat.mode & 0o7777 & wanted);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ELOOP") return "it is a link";
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function room(path: string): Finding {
  const { bavail, bsize, ffree, files } = statfsSync(path);
  const free = bavail * bsize;
  const text = `${Math.floor(free / MEGABYTE)} MB are free in ${path}`;
  if (free < LEAST_FREE)
    return data.fault(text, "free some space: on a full disk the database accepts no more changes");
  // Some file systems do not count files.
  if (files > 0 && ffree < 1000) return data.fault(`Almost no inodes are free in ${path}`, "remove files there");
  return data.ok(text);
}
