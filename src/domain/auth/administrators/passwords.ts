/** Argon2id for passwords and one-time codes, a bounded number at a time, and which passwords are allowed. */

import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { UamError } from "../../../shared/errors.ts";
import { PASSWORD_MAX, PASSWORD_MIN } from "../../../shared/product/password-length.ts";
import { isLonger, lengthOf } from "../../../shared/text/text.ts";
import { type Bounds, createGate } from "../../../shared/work/bounded.ts";
import type { Hasher } from "../../operation/context.ts";
import { isCommonPassword } from "./common-passwords.ts";

export { PASSWORD_MAX, PASSWORD_MIN };

/** 32 characters, five bits each, none easily taken for another. */
const READABLE = "abcdefghjkmnpqrstuvwxyz023456789";

/** KiB of memory for a password's hash and for a code's. */
interface Memory {
  readonly password: number;
  readonly code: number;
}
const MEMORY: Memory = { password: 64 * 1024, code: 19 * 1024 };
/** RFC 9106 parameters. 2 is argon2id (an enum that types alone cannot reach). */
const PASSES = { algorithm: 2, timeCost: 2, parallelism: 1 } as const;

/** One core stays free for requests; two at most, as each takes 64 MiB and the loop must answer within milliseconds. */
const DEFAULTS: Bounds = {
  concurrency: Math.max(1, Math.min(2, availableParallelism() - 1)),
  maxQueue: 32,
  retryAfter: 5,
};
/** The part of all places that strangers may take; the others stay free for known callers. */
const STRANGERS = 1 / 2;

/**
 * Hashing that all callers of this object share: at most `concurrency` run, at most `maxQueue` wait in order; strangers never take more than half of the
 * places.
 */
export function createPasswordHasher(bounds: Partial<Bounds> = {}, memory = MEMORY): Hasher {
  const all = { ...DEFAULTS, ...bounds };
  const gate = createGate(all);
  const most = Math.max(1, Math.floor((all.concurrency + all.maxQueue) * STRANGERS));
  // Strangers pass this gate first: a task in it also takes a place in the main one.
  const strangers = createGate({ ...all, concurrency: most, maxQueue: 0 });
  const enter = <T>(isKnown: boolean, task: () => Promise<T>) => (isKnown ? gate(task) : strangers(() => gate(task)));
  const hash = (secret: string, memoryCost: number) =>
    gate(async () => await (await loadArgon2()).hash(secret, { ...PASSES, memoryCost }));
  const verify = (stored: string, secret: string, isKnown: boolean) => enter(isKnown, () => compare(stored, secret));
  return {
    hash: (password) => hash(password.normalize("NFC"), memory.password),
    async verify(stored, password, isKnown = true) {
      for (const form of formsOf(password)) if (await verify(stored, form, isKnown)) return true;
      return false;
    },
    async verifyDummy(password, isKnown = true) {
      for (const form of formsOf(password)) await verify(unmatchable(memory.password), form, isKnown);
    },
    hashCode: (code) => hash(code, memory.code),
    verifyCode: (stored, code) => verify(stored, code, true),
    async verifyDummyCode(code) {
      await verify(unmatchable(memory.code), code, false);
    },
  };
}

/**
 * Throws `invalid`, with the reason, unless the password (in NFC) has 15 to 256 characters (Unicode code points), does not hold the
 * username in any case, and is not one of the most common. There are no other rules.
 */
export function checkPassword(typed: string, username: string): void {
  if (isLonger(typed, PASSWORD_MAX)) throw weak(`The password has more than ${PASSWORD_MAX} characters, the maximum`);
  const password = typed.normalize("NFC");
  const length = lengthOf(password);
  if (length < PASSWORD_MIN) {
    throw weak(`The password has ${length} characters, the minimum is ${PASSWORD_MIN}`);
  }
  if (length > PASSWORD_MAX) {
    throw weak(`The password has ${length} characters, the maximum is ${PASSWORD_MAX}`);
  }
  if (username !== "" && password.toLowerCase().includes(username.toLowerCase())) {
    throw weak("The password must not contain the username");
  }
  if (isCommonPassword(password)) {
    throw weak("The password is one of the most common; choose one that nobody would guess, such as four random words");
  }
}

function weak(sentence: string): UamError {
  return new UamError("invalid", sentence, { reason: "password.weak" });
}

/** A random password of 120 bits that `checkPassword` accepts for this username, as six groups of four letters and digits. */
export function generatePassword(username = ""): string {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const groups = Array.from({ length: 6 }, () =>
      Array.from({ length: 4 }, () => READABLE[randomInt(READABLE.length)]).join(""),
    );
    const password = groups.join("-");
    if (username === "" || !password.includes(username.toLowerCase())) return password;
  }
  throw new UamError(
    "internal",
    `No password could be generated that does not contain the username "${username}"; choose one yourself`,
  );
}

/** The native library; loaded at the first hash, or by this call, so that the service starts without waiting for it. */
export function loadArgon2() {
  return import("@node-rs/argon2");
}

/**
 * NFC, because keyboards send different forms of one letter; and as typed, because older hashes were made from that.
 */
function formsOf(password: string): ReadonlySet<string> {
  return new Set([password.normalize("NFC"), password]);
}

async function compare(stored: string, secret: string): Promise<boolean> {
  const { verify } = await loadArgon2();
  try {
    return await verify(stored, secret);
  } catch (cause) {
    throw new UamError("internal", "A stored password hash cannot be read; set the password again", { cause });
  }
}

/** A hash of that cost that no secret matches: its digest is all zeros. */
function unmatchable(memoryCost: number): string {
  const zeros = (bytes: number): string => Buffer.alloc(bytes).toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${memoryCost},t=${PASSES.timeCost},p=${PASSES.parallelism}$${zeros(16)}$${zeros(32)}`;
}
