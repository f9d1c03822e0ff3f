import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readPublicKey } from "../../../src/console/keys/public-key.ts";
import { faultSentence } from "../../../src/console/texts/user/key-faults.ts";
import { parsePublicKey } from "../../../src/domain/keys/public-key.ts";
import { readAuthorizedKeys } from "../../../src/host/key-file/authorized-keys.ts";
import { KEY_TYPES } from "../../../src/shared/product/ssh-key-types.ts";

const TYPE = "ssh-mldsa44-ed25519";
/** As ssh-keygen of OpenSSH 10.6 printed them. */
const FINGERPRINTS = {
  1: "SHA256:D/n2TbrIsC3osndqLfG7WZglsrL3PyRe5bhsr7S2T2U",
  2: "SHA256:FLDJWOS6llEF+x3DglhDnhYm3RYlzWt2iqp0DzFcxnA",
  3: "SHA256:A+t4H7KV9ta7bnVZZ9iqqcrUKlapYX9lW3LERA99OfI",
} as const;

const textOf = (number: number) =>
  readFileSync(new URL(`../../testdata/keys-10.6/mldsa44-ed25519-${number}.pub`, import.meta.url), "utf8");
const blobOf = (number: number) => Buffer.from(textOf(number).split(" ")[1] ?? "", "base64");
const string = (bytes: Uint8Array | string) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(bytes));
  return Buffer.concat([length, Buffer.from(bytes as string)]);
};
/** A line of that key's own bytes, changed. */
const lineOf = (change: (key: Buffer) => Uint8Array, { inner = TYPE, word = TYPE, rest = "" } = {}) =>
  `${word} ${Buffer.concat([string(inner), string(change(blobOf(1).subarray(-1344))), Buffer.from(rest)]).toString("base64")}`;

describe("a key of ML-DSA-44 and Ed25519", () => {
  for (const [number, fingerprint] of Object.entries(FINGERPRINTS)) {
    test(`number ${number}, made by ssh-keygen, is what ssh-keygen says it is`, () => {
      const text = textOf(Number(number));
      const expected = { type: TYPE, bits: 512, fingerprint } as const;
      const parsed = parsePublicKey(text, KEY_TYPES);
      expect(parsed).toMatchObject(expected);
      expect(text).toStartWith(`${parsed.publicKey} `);
      expect(readPublicKey(text)).toMatchObject({ key: { ...expected, line: parsed.publicKey } });
      expect(readAuthorizedKeys(`expiry-time="20300101Z" ${text}`)).toEqual([{ type: TYPE, base64: parsed.base64 }]);
    });
  }

  const longer = (key: Buffer) => Buffer.concat([key, Buffer.of(0)]);
  const refused: readonly (readonly [why: string, line: string, message: string])[] = [
    [
      "a byte less",
      lineOf((key) => key.subarray(1)),
      "holds an ML-DSA-44 and Ed25519 key of 1343 bytes, it must have 1344",
    ],
    ["a byte more", lineOf(longer), "holds an ML-DSA-44 and Ed25519 key of 1345 bytes, it must have 1344"],
    ["nothing", lineOf(() => Buffer.alloc(0)), "holds an ML-DSA-44 and Ed25519 key of 0 bytes, it must have 1344"],
    ["bytes behind it", lineOf((key) => key, { rest: "x" }), "has 1 trailing bytes after the key"],
    [
      "its end cut off",
      `${TYPE} ${blobOf(1).subarray(0, -1).toString("base64")}`,
      "is cut off in the ML-DSA-44 and Ed25519 key",
    ],
  ];
  for (const [why, line, message] of refused) {
    test(`with ${why} is refused, by the page in the same words`, () => {
      expect(() => parsePublicKey(line, KEY_TYPES)).toThrow(`The key data ${message}`);
      const read = readPublicKey(line);
      expect("fault" in read ? faultSentence(read.fault) : "accepted").toBe(`The key data ${message}`);
      expect(readAuthorizedKeys(line)).toEqual([]);
    });
  }

  test("under the name that it had before OpenSSH 10.6 is refused, as ssh-keygen refuses it", () => {
    const old = `${TYPE}@openssh.com`;
    expect(() =>
      parsePublicKey(
        lineOf((key) => key, { word: old, inner: old }),
        KEY_TYPES,
      ),
    ).toThrow(`Key type ${old} is not accepted`);
    expect(() =>
      parsePublicKey(
        lineOf((key) => key, { inner: old }),
        KEY_TYPES,
      ),
    ).toThrow("but the key data says");
  });

  test("whose Ed25519 half anybody can sign for is refused", () => {
    const weak = lineOf((key) => Buffer.concat([key.subarray(0, 1312), Buffer.of(1, ...new Uint8Array(31))]));
    expect(() => parsePublicKey(weak, KEY_TYPES)).toThrow("The Ed25519 half of the ML-DSA-44 key");
  });

  test("is refused where the configuration leaves the type out", () => {
    expect(() => parsePublicKey(textOf(1), ["ssh-ed25519"])).toThrow(`Key type ${TYPE} is not accepted`);
  });
});
