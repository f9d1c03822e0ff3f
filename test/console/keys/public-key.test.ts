import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../../src/config/config.ts";
import { nameFromComment } from "../../../src/console/keys/key-name.ts";
import { type PublicKey, readPublicKey } from "../../../src/console/keys/public-key.ts";
import { faultAdvice, faultSentence, PRIVATE_ADVICE } from "../../../src/console/texts/user/key-faults.ts";
import { parsePublicKey } from "../../../src/domain/keys/public-key.ts";
import { KEY_TYPES } from "../../../src/shared/product/ssh-key-types.ts";
import { keyVectors } from "../../support/key-vectors.ts";
import { listFile } from "../../support/ssh-keygen.ts";
import { needs } from "../../support/tools.ts";

const hasKeygen = needs("ssh-keygen");

/** What the service accepts unless it is told otherwise. */
const SERVICE_KEY_TYPES = readConfig({}, { isRoot: false, currentDirectory: "/" }).keyTypes;

const VECTORS = keyVectors();
/** What only the service finds out: the form is right, the numbers make no sound key. */
const LEFT_TO_THE_SERVICE =
  /not a valid point of the curve|^The Ed25519 key is (?:not|a point)|anybody can work out its private key/;

function keyOf(text: string): PublicKey {
  const read = readPublicKey(text);
  if ("fault" in read) throw new Error(faultSentence(read.fault));
  return read.key;
}

describe("readPublicKey", () => {
  for (const { name, text, expected } of VECTORS) {
    if (name === "public-rfc4716") continue;
    test(`${name} gets what the service and ssh-keygen say`, () => {
      const read = readPublicKey(text);
      if (expected.kind === "accepted") {
        const { type, bits, fingerprint } = keyOf(text);
        expect({ type, bits, fingerprint }).toEqual({
          type: expected.type as PublicKey["type"],
          bits: expected.bits,
          fingerprint: expected.fingerprint,
        });
        if (!hasKeygen) return;
        const listed = listFile(text);
        expect({ bits, fingerprint }).toEqual({ bits: listed?.bits ?? 0, fingerprint: listed?.fingerprint ?? "" });
      } else if (LEFT_TO_THE_SERVICE.test(expected.message)) {
        // The page may let it through; what it sends, the service refuses with the same words.
        const { line } = keyOf(text);
        expect(() => parsePublicKey(line, SERVICE_KEY_TYPES)).toThrow(expected.message);
      } else {
        expect("fault" in read ? faultSentence(read.fault) : "accepted").toBe(expected.message);
      }
    });
  }

  test("what is sent of an accepted key is accepted by the service as the same key", () => {
    for (const { text, expected } of VECTORS) {
      if (expected.kind !== "accepted") continue;
      const key = keyOf(text);
      const parsed = parsePublicKey(key.line, SERVICE_KEY_TYPES);
      expect(parsed.fingerprint).toBe(key.fingerprint);
      expect(parsed.publicKey).toBe(key.line);
      expect(parsed.bits).toBe(key.bits);
    }
  });

  test("the types are those of the service", () => {
    expect([...KEY_TYPES]).toEqual([...SERVICE_KEY_TYPES]);
  });

  test("keeps the comment, with its blanks made one", () => {
    const [type, base64] = VECTORS.find(({ name }) => name === "ed25519")?.text.split(" ") ?? [];
    expect(keyOf(`${type} ${base64} alice  at the laptop`).comment).toBe("alice at the laptop");
    expect(keyOf(`${type} ${base64}`).comment).toBe("");
  });

  test("counts the keys of several lines", () => {
    const read = readPublicKey(VECTORS.find(({ name }) => name === "two-keys")?.text ?? "");
    expect(read).toEqual({ fault: { kind: "several-lines", keys: 2 } });
    expect("fault" in read && faultAdvice(read.fault)).toContain("2 keys");
  });

  test("a text that is too long is refused unread", () => {
    const read = readPublicKey(`ssh-ed25519 ${"A".repeat(16_400)}`);
    expect("fault" in read && faultSentence(read.fault)).toBe("The public key text is longer than 16384 characters");
  });
});

describe("readPublicKey on RFC 4716", () => {
  const block = VECTORS.find(({ name }) => name === "public-rfc4716")?.text ?? "";

  test.if(hasKeygen)("converts what ssh-keygen -e wrote, to what ssh-keygen -i makes of it", () => {
    const key = keyOf(block);
    expect(key.isConverted).toBe(true);
    expect(key.comment).toBe("2048-bit RSA, converted by root@vm from OpenSSH");
    expect(`${key.line}\n`).toBe(converted(block));
    expect(listFile(key.line)?.fingerprint).toBe(key.fingerprint);
  });

  test.if(hasKeygen)("converts every accepted type, also with Windows' line ends", () => {
    for (const { text, expected, name } of VECTORS) {
      if (expected.kind !== "accepted") continue;
      const exported = sshKeygen(text.trim(), ["-e", "-m", "RFC4716"]);
      expect(exported, name).toContain("BEGIN SSH2 PUBLIC KEY");
      for (const given of [exported, exported.replaceAll("\n", "\r\n"), `\n  ${exported}\n\n`]) {
        expect(keyOf(given).fingerprint, name).toBe(expected.fingerprint);
      }
    }
  });

  test("takes what PuTTYgen writes: no space, a comment without quotes, a header over two lines", () => {
    const body = block.split("\n").slice(2, -1).join("\n");
    const written = `---- BEGIN SSH2 PUBLIC KEY ----\nSubject: x\nComment: rsa-key-\\\n20261101\n${body}\n---- END SSH2 PUBLIC KEY ----`;
    expect(keyOf(written).comment).toBe("rsa-key-20261101");
  });

  test("two blocks, a block without an end, and one with a bad body are not converted", () => {
    for (const bad of [
      `${block}\n${block}`,
      block.split("\n").slice(0, -1).join("\n"),
      block.replace("AAAAB3", "????"),
    ]) {
      expect("fault" in readPublicKey(bad)).toBe(true);
    }
  });
});

describe("nameFromComment", () => {
  test("takes a usual comment as it is", () => {
    expect(nameFromComment("alice@laptop")).toBe("alice@laptop");
    expect(nameFromComment("")).toBe("");
  });

  test("leaves out what a name may not have", () => {
    expect(nameFromComment("\u202Eevil\u2066")).toBe("evil");
    expect(nameFromComment("a\u0007b")).toBe("ab");
    expect(nameFromComment("\u200b\u2800")).toBe("");
    expect([...nameFromComment("é".repeat(100))].length).toBe(64);
  });
});

test("every kind of private key has its advice", () => {
  for (const advice of Object.values(PRIVATE_ADVICE)) expect(advice).toMatch(/public|\.pub/i);
});

function converted(text: string): string {
  return sshKeygen(text, ["-i"]);
}

function sshKeygen(text: string, options: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), "uam-console-key-"));
  try {
    const path = join(directory, "key");
    writeFileSync(path, `${text}\n`, { mode: 0o600 });
    return spawnSync("ssh-keygen", [...options, "-f", path], { encoding: "utf8" }).stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
