import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type PublicKey, parsePublicKey } from "../../../src/domain/keys/public-key.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { KEY_TYPES } from "../../../src/shared/product/ssh-key-types.ts";
import { processorTime } from "../../support/hang.ts";
import { acceptedKey, keyVectors } from "../../support/key-vectors.ts";
import { freshKey } from "../../support/keys.ts";
import { generateKey, listFile, listLines } from "../../support/ssh-keygen.ts";
import { isThorough, testSlow } from "../../support/thorough.ts";
import { needs } from "../../support/tools.ts";
import { mutations } from "./mutations.ts";

const VECTORS = keyVectors();
const ED25519 = acceptedKey("ed25519");

describe("parsePublicKey", () => {
  for (const { name, why, text, expected } of VECTORS) {
    if (expected.kind === "accepted") {
      test(`parsePublicKey() accepts ${name}: ${why}`, () => {
        const [type, base64] = text.trim().split(/ +/) as [string, string];
        expect(parsePublicKey(text, KEY_TYPES)).toEqual({
          type: expected.type as PublicKey["type"],
          bits: expected.bits,
          fingerprint: expected.fingerprint,
          base64,
          publicKey: `${type} ${base64}`,
        });
      });
    } else {
      test(`parsePublicKey() refuses ${name}: ${why}`, () => {
        expect(refusalOf(text)).toBe(expected.message);
      });
    }
  }

  test("parsePublicKey() trims white space and line ends around the line, and nothing else", () => {
    const { publicKey } = parsePublicKey(ED25519, KEY_TYPES);
    for (const [before, after] of [
      ["", "\n"],
      ["", "\r\n"],
      ["\n", "\n\n"],
      [" \t\r\n", " \t \r\n\n"],
    ]) {
      expect(parsePublicKey(`${before}${ED25519}${after}`, KEY_TYPES).publicKey).toBe(publicKey);
    }
    for (const character of ["\v", "\f", "\u0085", "\u2028"]) {
      expect(refusalOf(character + ED25519)).toBe("The public key must be a single line");
    }
    expect(refusalOf(`${ED25519}\n\n${ED25519}`)).toBe("The public key must be a single line");
  });

  test("parsePublicKey() refuses every line break in the comment and between the words", () => {
    for (const character of ["\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"]) {
      expect(refusalOf(`${ED25519} a${character}b`)).toBe("The public key must be a single line");
      expect(refusalOf(ED25519.replace(" ", character))).toBe("The public key must be a single line");
    }
  });

  test("parsePublicKey() refuses every other control character and lone surrogates, in the comment too", () => {
    const codes = [...Array(32).keys(), ...Array.from({ length: 33 }, (_, i) => 0x7f + i), 0xd800, 0xdfff];
    for (const code of codes.filter((c) => ![10, 11, 12, 13, 0x85].includes(c))) {
      const character = String.fromCharCode(code);
      expect(refusalOf(`${ED25519} a${character}b`)).toBe("The public key text contains control characters");
      // A tab around the line is white space.
      if (code !== 9) expect(refusalOf(ED25519 + character)).toBe("The public key text contains control characters");
    }
  });

  test("parsePublicKey() refuses an empty text and a blank one", () => {
    expect(refusalOf("")).toBe("The public key text is empty");
    expect(refusalOf("  \n")).toBe("The public key text is empty");
  });

  test("parsePublicKey() refuses a text of more than 16384 characters, and reads one of just that many", () => {
    expect(parsePublicKey(ED25519.padEnd(16384, "x"), KEY_TYPES).type).toBe("ssh-ed25519");
    expect(refusalOf(ED25519.padEnd(16385, "x"))).toBe("The public key text is longer than 16384 characters");
  });

  test("parsePublicKey() takes bounded time for hostile texts of the largest size", async () => {
    const pieces = ["BEGIN ", "-----BEGIN A", " ", "ssh-", 'a="', ",", "\\", "=", "A", "\r", "ssh-rsa AAAA"];
    const spent = await processorTime(() => {
      for (const piece of pieces) refusalOf(piece.repeat(Math.floor(16384 / piece.length)));
    });
    expect(spent).toBeLessThan(500);
  });

  test("parsePublicKey() names the type and what is accepted when the configuration narrows the types", () => {
    expect(parsePublicKey(ED25519, ["ssh-ed25519"]).type).toBe("ssh-ed25519");
    expect(refusalOf(acceptedKey("rsa-4096"), ["ssh-ed25519", "sk-ssh-ed25519@openssh.com"])).toBe(
      "Key type ssh-rsa is not accepted; accepted are ssh-ed25519, sk-ssh-ed25519@openssh.com",
    );
    for (const { text, expected } of VECTORS) {
      if (expected.kind !== "accepted") continue;
      const others = KEY_TYPES.filter((type) => type !== expected.type);
      expect(refusalOf(text, others)).toStartWith(`Key type ${expected.type} is not accepted; accepted are `);
    }
  });

  test("parsePublicKey() accepts a fresh Ed25519 key each time", () => {
    for (let n = 0; n < 200; n++) expect(parsePublicKey(freshKey(), KEY_TYPES).bits).toBe(256);
  });

  test("parsePublicKey() never repeats the text of a private key", () => {
    expect(refusalOf("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0")).not.toContain("c2VjcmV0");
  });

  test("parsePublicKey() throws nothing but `invalid`, whatever the text", () => {
    const words = fc.constantFrom(...KEY_TYPES, "ssh-dss", 'command="x"', "-----BEGIN RSA PRIVATE KEY-----", "\n", "#");
    const base64 = fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    const blob = fc.tuple(fc.constantFrom(...KEY_TYPES), fc.array(fc.uint8Array({ maxLength: 70 }))).map(wireLine);
    const pieces = fc.array(fc.oneof(words, base64, fc.string({ unit: "binary" }))).map((parts) => parts.join(" "));
    fc.assert(
      fc.property(fc.oneof(pieces, blob, fc.string({ unit: "binary" })), (text) => {
        const key = attempt(text);
        if (key !== undefined) expect(text).toContain(key.base64);
      }),
      { numRuns: 3000 },
    );
  });
});

describe.if(needs("ssh-keygen"))("parsePublicKey against ssh-keygen", () => {
  testSlow(
    "parsePublicKey() gives what ssh-keygen prints for fresh keys of every type and size",
    () => {
      const options = [["ed25519"], ...["256", "384", "521"].map((b) => ["ecdsa", "-b", b]), ["rsa", "-b", "2048"]];
      for (const type of [...options, ["rsa", "-b", "3072"], ...(isThorough ? [["rsa", "-b", "4096"]] : [])]) {
        const text = generateKey(["-t", ...type]);
        const { bits, fingerprint } = parsePublicKey(text, KEY_TYPES);
        const listed = listFile(text);
        expect({ bits, fingerprint }).toEqual({ bits: listed?.bits ?? 0, fingerprint: listed?.fingerprint ?? "" });
      }
      expect(refusalOf(generateKey(["-t", "rsa", "-b", "1024"]))).toBe("RSA key has 1024 bits, the minimum is 2048");
    },
    180_000,
  );

  test("parsePublicKey() refuses every vector that ssh-keygen refuses, and agrees on all others", () => {
    for (const { name, text } of VECTORS) {
      const listed = listFile(`${text}\n`);
      const key = attempt(text);
      if (key === undefined) continue;
      expect({ name, bits: key.bits, fingerprint: key.fingerprint }).toEqual({
        name,
        bits: listed?.bits ?? 0,
        fingerprint: listed?.fingerprint ?? "refused by ssh-keygen",
      });
    }
  }, 180_000);

  test("parsePublicKey() accepts no damaged key that ssh-keygen refuses, and agrees with it on those both accept", () => {
    const names = ["ed25519", "ecdsa-nistp256", "ecdsa-nistp384", "ecdsa-nistp521", "rsa-2048", "rsa-4096"];
    const lines = [...names, "rsa-exponent-3", "rsa-16384", "sk-ed25519", "sk-ecdsa"].flatMap((name) =>
      mutations(acceptedKey(name).split(" ", 2).join(" ")),
    );
    const outcomes = { both: 0, onlySshKeygen: 0, neither: 0 };
    for (const [i, listed] of listLines(lines).entries()) {
      const line = lines[i] ?? "";
      const key = attempt(line);
      if (key !== undefined) {
        expect({ line, bits: key.bits, fingerprint: key.fingerprint }).toEqual({
          line,
          bits: listed?.bits ?? 0,
          fingerprint: listed?.fingerprint ?? "refused by ssh-keygen",
        });
      }
      outcomes[key !== undefined ? "both" : listed !== undefined ? "onlySshKeygen" : "neither"]++;
    }
    // The damage tests something only if all three outcomes are frequent.
    expect(Math.min(outcomes.both, outcomes.onlySshKeygen, outcomes.neither)).toBeGreaterThan(100);
  }, 180_000);
});

/** The message of the refusal; fails unless it is an `invalid` UamError. */
function refusalOf(text: string, accepted: readonly PublicKey["type"][] = KEY_TYPES): string {
  try {
    parsePublicKey(text, accepted);
  } catch (error) {
    if (error instanceof UamError && error.code === "invalid") return error.message;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 100)}`);
}

/** The key, or undefined if it was refused; anything thrown but an `invalid` UamError goes through. */
function attempt(text: string): PublicKey | undefined {
  try {
    return parsePublicKey(text, KEY_TYPES);
  } catch (error) {
    if (error instanceof UamError && error.code === "invalid") return undefined;
    throw error;
  }
}

function wireLine([type, fields]: [string, Uint8Array[]]): string {
  const strings = [Buffer.from(type), ...fields].flatMap((field) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(field.length);
    return [size, field];
  });
  return `${type} ${Buffer.concat(strings).toString("base64")}`;
}
