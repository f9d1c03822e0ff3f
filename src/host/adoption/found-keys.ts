/** The keys in the files that sshd reads for an account which is not ours yet; its owner is taken to be hostile. */

import type { FoundKey, FoundKeyFile } from "../../protocol/adoption.ts";
import type { PasswdEntry } from "../account.ts";
import { readAuthorizedKeys } from "../key-file/authorized-keys.ts";
import { fingerprintOf } from "../key-file/effective-keys.ts";
import { type KeyFileText, readKeyFile } from "../key-file/key-file-text.ts";
import { type KeyFile, keyFileOf } from "../key-file/key-path.ts";
import { readMounts } from "../safe-open.ts";

/** The files that sshd reads by default (sshd_config(5)): used where it does not answer. */
const DEFAULT_FILES = [".ssh/authorized_keys", ".ssh/authorized_keys2"];
/** More keys of one file are counted, not kept. */
const MOST_KEYS = 100;
const LONGEST_TEXT = 100;

/** The files by sshd's patterns, each once. A path that is not plain, such as one with `..`, counts as unread. */
export function keyFilesOf(
  patterns: readonly string[] | undefined,
  entry: PasswdEntry,
): readonly (KeyFile | { readonly path: string; readonly strange: true })[] {
  const files = (patterns ?? DEFAULT_FILES)
    .filter((pattern) => pattern !== "none")
    .map((pattern) => {
      try {
        return keyFileOf(pattern, entry);
      } catch {
        return { path: pattern, strange: true } as const;
      }
    });
  return files.filter((file, index) => files.findIndex(({ path }) => path === file.path) === index);
}

/** What the files hold. Follows no link in the home, and waits for nothing. */
export function readFoundKeys(patterns: readonly string[] | undefined, entry: PasswdEntry): readonly FoundKeyFile[] {
  const ground = { mounts: readMounts() };
  return keyFilesOf(patterns, entry).map((file) =>
    "strange" in file
      ? { path: file.path, keys: [], more: 0, problem: "is not a plain path" }
      : foundIn(file.path, readKeyFile(file, ground)),
  );
}

/** Each key once, in the order of the lines. Pure. */
export function foundIn(path: string, { text, problem }: KeyFileText): FoundKeyFile {
  const found = new Map<string, FoundKey>();
  let more = 0;
  for (const line of text.split("\n")) {
    for (const { type, base64 } of readAuthorizedKeys(line)) {
      if (found.has(base64)) continue;
      if (found.size === MOST_KEYS) more++;
      else found.set(base64, { type, base64, fingerprint: fingerprintOf(base64), ...aroundKey(line) });
    }
  }
  return { path, keys: [...found.values()], more, ...(problem === undefined ? {} : { problem }) };
}

/** The options before a key, which the service would not keep, and the comment behind it. Takes time in proportion to the line. */
function aroundKey(line: string): Pick<FoundKey, "options" | "comment"> {
  const data = line.search(/[ \t]AAAA/);
  if (data < 0) return { options: "", comment: "" };
  const words = line.slice(0, data).trimEnd();
  const type = Math.max(words.lastIndexOf(" "), words.lastIndexOf("\t"));
  const behind = line.slice(data + 1);
  const end = behind.search(/[ \t]/);
  return { options: short(words.slice(0, type + 1)), comment: end < 0 ? "" : short(behind.slice(end)) };
}

function short(text: string): string {
  return text.trim().slice(0, LONGEST_TEXT);
}
