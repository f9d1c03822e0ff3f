/** The keys left in the files that sshd reads for an account after access was taken away: read back, not taken for granted. */

import { createHash } from "node:crypto";
import { readAuthorizedKeys } from "./authorized-keys.ts";
import type { KeyFileText } from "./key-file-text.ts";
import type { KeyFile } from "./key-path.ts";

/** Which keys must no longer be in any file: the one with this fingerprint, or every key. */
export type DeadKeys = { readonly kind: "key"; readonly fingerprint: string } | { readonly kind: "all" };

/** A sentence if the file contains a dead key, or may; undefined if it contains none. Pure. */
export function deadKeyIn(file: KeyFile, { text, problem }: KeyFileText, dead: DeadKeys): string | undefined {
  const { name } = file.owner;
  if (problem !== undefined) return `sshd reads keys of ${name} from ${file.path}, which ${problem}`;
  const isDead = ({ base64 }: { readonly base64: string }) =>
    dead.kind === "all" || fingerprintOf(base64) === dead.fingerprint;
  if (!readAuthorizedKeys(text).some(isDead)) return undefined;
  const which = dead.kind === "all" ? "keys" : `the revoked key ${dead.fingerprint}`;
  const advice = file.inHome ? "its owner keeps putting it back" : "which does not belong to uam: remove it there";
  return `sshd still reads ${which} of ${name} from ${file.path}, ${advice}`;
}

/** True if the file contains a key that is not one of these, or may. Pure. */
export function holdsOtherKeys({ text, problem }: KeyFileText, keys: readonly { readonly base64: string }[]): boolean {
  const known = new Set(keys.map(({ base64 }) => base64));
  return problem !== undefined || readAuthorizedKeys(text).some(({ base64 }) => !known.has(base64));
}

/** As ssh-keygen -l prints it. */
export function fingerprintOf(base64: string): string {
  const digest = createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64");
  return `SHA256:${digest.replace(/=+$/, "")}`;
}
