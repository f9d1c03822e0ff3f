/** The file of revoked keys (RevokedKeys in sshd_config(5)): if sshd cannot use it, sshd refuses every key. */

import { createHash } from "node:crypto";
import { chmodSync, lstatSync, readFileSync, type Stats, statSync, writeFileSync } from "node:fs";
import { runCommand } from "../host/command.ts";
import { REVOKED_KEYS } from "../install/sshd-drop-in.ts";
import { areaOf, type Finding } from "./finding.ts";

export interface RevokedKeysExpectation {
  /** The uid that may write the file: root's, because its writer decides which keys sshd refuses. */
  readonly owner: number;
  /** The file that `uam install` creates, and `fix` creates again; any other file is left to the administrator. */
  readonly own: string;
  /** Create our own file again if it is missing, and take away rights that others should not have. */
  readonly fix: boolean;
}

/** How a key revocation list of ssh-keygen(1) begins; sshd reads any other file as text. */
const MAGIC = "SSHKRL\n\0";
const KEY_LINE = /^(?:ssh|ecdsa|sk)-\S+[ \t]+(\S+)/;

const area = areaOf("sshd");

/** Checks the file at `path`; no findings if sshd can use it and nobody else can write it. */
export async function checkRevokedKeys(path: string, expected: RevokedKeysExpectation): Promise<readonly Finding[]> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [missing(path, expected)];
  const wrong = await contentFault(path, stat);
  return [...(wrong === undefined ? [] : [refusesAll(path, wrong)]), ...writers(path, stat, expected)];
}

function missing(path: string, { own, fix }: RevokedKeysExpectation): Finding {
  const finding = `sshd refuses every key of ext_ accounts: ${path} (RevokedKeys) is missing`;
  const isLink = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!fix || path !== own || isLink) {
    return area.fault(finding, `restore it, or create it, even if empty: install -m 0644 /dev/null ${path}`);
  }
  writeFileSync(path, REVOKED_KEYS, { flag: "wx" });
  chmodSync(path, 0o644);
  return area.fixed(`${finding}; it was created again and lists none: add the keys that it listed`);
}

function refusesAll(path: string, wrong: string): Finding {
  return area.fault(
    `sshd refuses every key of ext_ accounts: ${path} (RevokedKeys) ${wrong}`,
    "correct it: public keys, one per line, as ssh-keygen prints them, or a list made by ssh-keygen -k; # begins a comment",
  );
}

/** Why sshd could not use it, as the end of a sentence. */
async function contentFault(path: string, stat: Stats): Promise<string | undefined> {
  // sshd would wait forever for the content of a FIFO, and so would this.
  if (!stat.isFile()) return stat.isCharacterDevice() ? undefined : "is not a file";
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!content.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC))) return await textFault(path, content);
  const { exitCode } = await runCommand(["/usr/bin/ssh-keygen", "-Q", "-l", "-f", path]);
  return exitCode === 0 ? undefined : "is a damaged key revocation list";
}

/** sshd stops at the first line that is not empty, not a comment and does not begin with a key; it knows no options here. */
async function textFault(path: string, content: Buffer): Promise<string | undefined> {
  const lines = content
    .toString("latin1")
    .split("\n")
    // To sshd a line ends with its first NUL.
    .map((text, index) => ({ number: index + 1, text: text.replace(/^[ \t]+/, "").replace(/\0.*$/s, "") }))
    .filter(({ text }) => text !== "" && !text.startsWith("#"));
  const other = lines.find(({ text }) => !KEY_LINE.test(text));
  if (other !== undefined) return `has a line ${other.number} that does not begin with a key`;
  if (lines.length === 0) return undefined;
  // It reads keys as sshd does, and prints nothing for a line that it cannot read.
  const { stdout } = await runCommand(["/usr/bin/ssh-keygen", "-l", "-f", path]);
  const read = stdout.match(/^\d+ SHA256:\S+/gm)?.map((text) => text.replace(/^\d+ /, "")) ?? [];
  if (read.length === lines.length) return undefined;
  const bad = lines.find(({ text }) => !read.includes(fingerprintOf(KEY_LINE.exec(text)?.[1] ?? "")));
  return `has a line ${bad?.number ?? ""} with an invalid key, or one of a type that this host does not know`;
}

function fingerprintOf(base64: string): string {
  const hash = createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64");
  return `SHA256:${hash.replace(/=+$/, "")}`;
}

function writers(path: string, stat: Stats, { owner, fix }: RevokedKeysExpectation): readonly Finding[] {
  if (!stat.isFile()) return [];
  if (stat.uid !== owner) {
    const finding = `${path} (RevokedKeys) belongs to uid ${stat.uid}, who can let in a revoked key, or lock everybody out`;
    return [area.fault(finding, `check what it lists, then chown root:root ${path}`)];
  }
  if ((stat.mode & 0o022) === 0) return [];
  const finding = `Users other than root can write ${path} (RevokedKeys), and let in a revoked key, or lock everybody out`;
  if (!fix) return [area.fault(finding, `check what it lists, then chmod go-w ${path}, or uam doctor --fix`)];
  chmodSync(path, stat.mode & 0o7755);
  return [area.fixed(`${finding}; they no longer can: check what it lists`)];
}
