import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { decodeKeyFile } from "../../../src/console/keys/key-file.ts";
import { nameFaultOf } from "../../../src/console/keys/key-name.ts";
import { privateFormatOf } from "../../../src/console/keys/private-key.ts";
import { uploadOf } from "../../../src/console/keys/upload.ts";
import { acceptedKey, keyVectors } from "../../support/key-vectors.ts";
import { testSlow } from "../../support/thorough.ts";
import { needs } from "../../support/tools.ts";

const PUBLIC = acceptedKey("ed25519");

/** What marks a private key, as files have it. */
const MARKERS = [
  ...["", "OPENSSH ", "RSA ", "EC ", "DSA ", "ENCRYPTED "].map((kind) => `-----BEGIN ${kind}PRIVATE KEY-----`),
  ...["", "OPENSSH ", "RSA ", "EC ", "DSA ", "ENCRYPTED "].map((kind) => `-----END ${kind}PRIVATE KEY-----`),
  "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
  "PuTTY-User-Key-File-2: ssh-rsa",
  "PuTTY-User-Key-File-3: ssh-ed25519",
  "Private-Lines: 14",
  "Private-MAC: 0123",
  "SSH PRIVATE KEY FILE FORMAT 1.1",
  "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
];

/** Keys that ssh-keygen and openssl make, in every format that they write. */
function madeKeys(): readonly { readonly name: string; readonly text: string }[] {
  const directory = mkdtempSync(join(tmpdir(), "uam-console-private-"));
  const made: { name: string; text: string }[] = [];
  const make = (name: string, command: string, options: readonly string[]) => {
    const path = join(directory, name);
    const { status, stderr } = spawnSync(
      command,
      options.map((option) => (option === "FILE" ? path : option)),
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`${name}: ${stderr}`);
    made.push({ name, text: readFileSync(path, "utf8") });
  };
  try {
    for (const type of ["ed25519", "ecdsa", "rsa"]) {
      for (const [format, passphrase] of [
        ["RFC4716", ""],
        ["RFC4716", "secret"],
        ["PEM", ""],
        ["PKCS8", ""],
        ["PKCS8", "secret"],
      ] as const) {
        if (type === "ed25519" && format !== "RFC4716") continue;
        const name = `${type}-${format}-${passphrase === "" ? "plain" : "encrypted"}`;
        make(name, "ssh-keygen", ["-q", "-t", type, "-m", format, "-N", passphrase, "-f", "FILE"]);
      }
    }
    make("ed25519-openssl", "openssl", ["genpkey", "-algorithm", "ed25519", "-out", "FILE"]);
    make("rsa-openssl-encrypted", "openssl", [
      "genpkey",
      "-algorithm",
      "rsa",
      "-aes-256-cbc",
      "-pass",
      "pass:secret",
      "-out",
      "FILE",
    ]);
    return made;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const hasPrograms = needs("ssh-keygen", "openssl");
describe.if(hasPrograms)("private keys that programs make", () => {
  const made = hasPrograms ? madeKeys() : [];

  for (const { name, text } of made) {
    test(`${name} is recognised: whole, in part, on one line, without its first and last line`, () => {
      const body = text.split("\n").filter((line) => !line.startsWith("---"));
      const forms = [
        text,
        text.replaceAll("\n", " "),
        text.replaceAll("\n", "\r\n"),
        text.split("\n").slice(0, 3).join("\n"),
      ];
      for (const form of [...forms, `${PUBLIC}\n${text}`, `${text}${PUBLIC}`]) {
        expect(privateFormatOf(form)).toBeDefined();
        expect("body" in uploadOf(form, "laptop")).toBe(false);
      }
      // The traditional encrypted PEM has headers and then random bytes: only its marks say what it is.
      const bare = body.join("\n");
      expect(privateFormatOf(bare)).toBeDefined();
      expect("body" in uploadOf(bare, "laptop")).toBe(false);
    });
  }

  test("are found in UTF-16 too, also where it was read as something else", () => {
    const text = made[0]?.text ?? "";
    const utf16 = new Uint8Array(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]));
    expect(privateFormatOf(decodeKeyFile(utf16))).toBe("openssh");
    expect(privateFormatOf(new TextDecoder("latin1").decode(utf16))).toBe("openssh");
  });
});

describe("private keys", () => {
  test("are named by what made them", () => {
    const formats = Object.fromEntries(
      keyVectors()
        .filter(({ name }) => name.startsWith("private-"))
        .map(({ name, text }) => [name, privateFormatOf(text)]),
    );
    expect(formats).toEqual({
      "private-bare": "openssh",
      "private-one-line": "openssh",
      "private-openssh": "openssh",
      "private-pem": "pem",
      "private-pkcs8-encrypted": "pem",
      "private-putty": "putty",
    });
  });

  test("no public key counts as one", () => {
    for (const { name, text, expected } of keyVectors()) {
      if (expected.kind === "accepted" || name.startsWith("public-"))
        expect(privateFormatOf(text), name).toBeUndefined();
    }
  });
});

describe("uploadOf", () => {
  test("sends the type and the data of the key and nothing else of the text", () => {
    expect(uploadOf(`  ${PUBLIC} \n`, " laptop ")).toMatchObject({
      body: { name: "laptop", public_key: PUBLIC.split(" ").slice(0, 2).join(" ") },
    });
  });

  testSlow(
    "sends nothing for a text or a name with a private key's mark, wherever it stands and however it is spaced",
    () => {
      const piece = fc.oneof(
        fc.string({ unit: "binary" }),
        fc.constantFrom(PUBLIC, `${PUBLIC}\n`, "\n", "\r\n", " ", "\uFEFF", ...keyVectors().map(({ text }) => text)),
      );
      const marker = fc.constantFrom(...MARKERS).chain((mark) =>
        fc.array(fc.nat(mark.length), { maxLength: 3 }).map((places) => {
          // Broken at some places, as bad copies are.
          let broken = mark;
          for (const place of places) broken = `${broken.slice(0, place)}\n${broken.slice(place)}`;
          return broken;
        }),
      );
      fc.assert(
        fc.property(piece, marker, piece, piece, (before, mark, after, name) => {
          const text = `${before}${mark}${after}`;
          expect("body" in uploadOf(text, "laptop")).toBe(false);
          expect("body" in uploadOf(PUBLIC, `${name.slice(0, 8)}${mark}`)).toBe(false);
        }),
        { numRuns: 3000 },
      );
    },
  );

  test("whatever it sends holds no mark, fits the rules of a name, and is one line", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(...keyVectors().map((vector) => vector.text)),
      fc.tuple(fc.constant(PUBLIC), fc.string({ unit: "grapheme" })).map(([key, comment]) => `${key} ${comment}`),
    );
    fc.assert(
      fc.property(text, fc.string({ unit: "grapheme", maxLength: 80 }), (given, name) => {
        const upload = uploadOf(given, name);
        if (!("body" in upload)) return;
        const { body } = upload;
        expect(body.public_key).toMatch(/^[a-z0-9@.-]+ [A-Za-z0-9+/]+=*$/);
        expect(nameFaultOf(body.name)).toBeUndefined();
        for (const value of Object.values(body)) expect(privateFormatOf(value)).toBeUndefined();
      }),
      { numRuns: 3000 },
    );
  });

  test("says what is wrong with a name in the service's words", () => {
    expect(uploadOf(PUBLIC, " ")).toEqual({ nameFault: "The key's name must not be empty." });
    expect(uploadOf(PUBLIC, "x".repeat(65))).toEqual({ nameFault: "The key's name is longer than 64 characters." });
  });
});
