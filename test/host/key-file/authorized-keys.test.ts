import { afterEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { parsePublicKey } from "../../../src/domain/keys/public-key.ts";
import {
  type ExpiryFormat,
  readAuthorizedKeys,
  renderAuthorizedKeys,
} from "../../../src/host/key-file/authorized-keys.ts";
import type { HostKey } from "../../../src/protocol/host.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { KEY_TYPES } from "../../../src/shared/product/ssh-key-types.ts";
import { mutations } from "../../domain/keys/mutations.ts";
import { acceptedKey, keyVectors } from "../../support/key-vectors.ts";
import { certificateEnd, listLines } from "../../support/ssh-keygen.ts";
import { needs } from "../../support/tools.ts";

const UTC: ExpiryFormat = { kind: "utc" };
const LOCAL: ExpiryFormat = { kind: "local" };
const NOON = new Date("2026-11-20T12:00:00.000Z");
const ED25519 = hostKey(7, "ed25519");
const RSA = hostKey(8, "rsa-2048");
const SK = hostKey(9, "sk-ed25519");
const LINE = `${ED25519.type} ${ED25519.base64}`;

describe("renderAuthorizedKeys", () => {
  test("renderAuthorizedKeys() writes one line per key, in the order given, each with a newline", () => {
    expect(renderAuthorizedKeys([RSA, ED25519], NOON, UTC)).toBe(
      `expiry-time="20261120115959Z" ssh-rsa ${RSA.base64} uam:8\n` +
        `expiry-time="20261120115959Z" ssh-ed25519 ${ED25519.base64} uam:7\n`,
    );
  });

  test("renderAuthorizedKeys() writes nothing at all for no keys", () => {
    expect(renderAuthorizedKeys([], NOON, UTC)).toBe("");
    expect(renderAuthorizedKeys([], NOON, LOCAL)).toBe("");
  });

  test("renderAuthorizedKeys() makes sshd refuse from the second of expireAt on, and not before", () => {
    for (const milliseconds of [0, 1, 499, 500, 999]) {
      const expireAt = new Date(NOON.getTime() + milliseconds);
      const named = instantOf(timeIn(renderAuthorizedKeys([ED25519], expireAt, UTC)));
      expect(sshdRefuses(named, NOON.getTime() - 1)).toBe(false);
      expect(sshdRefuses(named, NOON.getTime())).toBe(true);
    }
  });

  test.if(needs("ssh-keygen"))(
    "renderAuthorizedKeys() writes a time that OpenSSH reads as the second before expireAt",
    () => {
      const time = timeIn(renderAuthorizedKeys([ED25519], NOON, UTC));
      expect(certificateEnd(time, "Asia/Tokyo")).toEqual(new Date("2026-11-20T11:59:59Z"));
    },
  );

  test("renderAuthorizedKeys() writes only times that sshd can read, even for the first and the last dates", () => {
    const time = (expireAt: Date) => timeIn(renderAuthorizedKeys([ED25519], expireAt, UTC));
    expect(time(new Date(0))).toBe("19700102000000Z");
    expect(time(new Date(-8.64e15))).toBe("19700102000000Z");
    expect(time(new Date(8.64e15))).toBe("99991230000000Z");
  });

  test.if(needs("ssh-keygen"))(
    "renderAuthorizedKeys() writes lines that ssh-keygen reads, for every accepted vector",
    () => {
      const keys = keyVectors()
        .filter(({ expected }) => expected.kind === "accepted")
        .map(({ name }, i) => hostKey(i + 1, name));
      const lines = renderAuthorizedKeys(keys, NOON, UTC).trimEnd().split("\n");
      expect(listLines(lines).map((listed) => listed?.fingerprint)).toEqual(keys.map((key) => key.fingerprint));
    },
  );

  test("renderAuthorizedKeys() refuses a stored key that is not canonical, and an invalid date", () => {
    const damaged: readonly HostKey[] = [
      { ...ED25519, type: "ssh-rsa" },
      { ...ED25519, type: 'command="id" ssh-ed25519' },
      { ...ED25519, base64: `${ED25519.base64}\nssh-rsa` },
      { ...ED25519, base64: ED25519.base64.slice(0, -4) },
      { ...ED25519, base64: "" },
      { ...ED25519, base64: padded(RSA), type: "ssh-rsa" },
      { ...ED25519, id: 1.5 },
      { ...ED25519, id: Number.NaN },
    ];
    for (const key of damaged) expect(codeOf(() => renderAuthorizedKeys([ED25519, key], NOON, UTC))).toBe("internal");
    expect(codeOf(() => renderAuthorizedKeys([ED25519], new Date(Number.NaN), UTC))).toBe("internal");
  });
});

describe("renderAuthorizedKeys in local time", () => {
  afterEach(() => {
    process.env.TZ = "UTC";
  });

  test("renderAuthorizedKeys() writes the host's local time without a Z, as sshd before 9.1 needs it", () => {
    process.env.TZ = "Asia/Kolkata";
    expect(renderAuthorizedKeys([ED25519], NOON, LOCAL)).toBe(`expiry-time="20261120172959" ${LINE} uam:7\n`);
  });

  test.if(needs("ssh-keygen"))(
    "renderAuthorizedKeys() writes standard time in summer, since OpenSSH reads it as that",
    () => {
      for (const zone of ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]) {
        process.env.TZ = zone;
        for (const date of [
          "2026-01-15T12:00:00Z",
          "2026-07-01T12:00:00Z",
          "2026-10-25T00:30:00Z",
          "2026-10-25T01:30:00Z",
        ]) {
          const time = timeIn(renderAuthorizedKeys([ED25519], new Date(date), LOCAL));
          expect({ zone, date, end: certificateEnd(time, zone).getTime() }).toEqual({
            zone,
            date,
            end: Date.parse(date) - 1000,
          });
        }
      }
    },
  );

  test.if(needs("ssh-keygen"))(
    "renderAuthorizedKeys() errs towards an hour too early if summer time counts as standard",
    () => {
      for (const zone of ["Europe/Dublin", "Africa/Casablanca"]) {
        process.env.TZ = zone;
        for (const date of ["2026-01-15T12:00:00Z", "2026-02-25T12:00:00Z", "2026-07-01T12:00:00Z"]) {
          const time = timeIn(renderAuthorizedKeys([ED25519], new Date(date), LOCAL));
          const early = Date.parse(date) - certificateEnd(time, zone).getTime();
          expect(early).toBeGreaterThanOrEqual(1000);
          expect(early).toBeLessThanOrEqual(3_601_000);
        }
      }
    },
  );
});

describe("readAuthorizedKeys", () => {
  test("readAuthorizedKeys() returns what renderAuthorizedKeys() wrote", () => {
    const keys = [RSA, ED25519, SK];
    const expected = keys.map(({ type, base64 }) => ({ type, base64 }));
    expect(readAuthorizedKeys(renderAuthorizedKeys(keys, NOON, UTC))).toEqual(expected as never);
    expect(readAuthorizedKeys("")).toEqual([]);
  });

  const spellings: Readonly<Record<string, string>> = {
    "without a newline at the end": LINE,
    "with a carriage return": `${LINE}\r\n`,
    "behind blanks and tabs": ` \t ${LINE}`,
    "with tabs between the words": LINE.replace(" ", "\t \t"),
    "with a comment": `${LINE} # not a comment line`,
    "behind options": `no-pty,command="echo \\"a b\\" c",from="*" ${LINE}`,
    "behind cert-authority": `cert-authority ${LINE}`,
    "with what is after a NUL hidden": `${LINE}\0 ${"x".repeat(100)}`,
    "with a vertical tab in the base64": `${LINE.slice(0, 40)}\v\f\r${LINE.slice(40)}`,
    "behind a line of a megabyte": `command="${"a ".repeat(500_000)}" junk\n${LINE}`,
    "behind an open quote in another line": `command="\n${LINE}`,
    "behind junk": `\u0000\u0001\ufffd\n-----BEGIN\n#\n\n\r\n"\n${LINE}`,
    "in a line that has a megabyte of blanks": `${" ".repeat(1_000_000)}${LINE}`,
    "with a NUL after the inner type": `ssh-ed25519 ${withInnerType(ED25519, "ssh-ed25519\0")}`,
    "with the short name as inner type": `ssh-ed25519 ${withInnerType(ED25519, "Ed25519")}`,
  };
  for (const [how, text] of Object.entries(spellings)) {
    test(`readAuthorizedKeys() finds a key ${how}`, () => {
      expect(readAuthorizedKeys(text)).toEqual([{ type: "ssh-ed25519", base64: ED25519.base64 }]);
    });
  }

  test.if(needs("ssh-keygen"))(
    "readAuthorizedKeys() finds the key that ssh-keygen finds after options that contain a key themselves",
    () => {
      const others = [`ssh-rsa ${RSA.base64}`, ...mutations(`ssh-rsa ${RSA.base64}`)];
      const lines = others.flatMap((other) => [`command="${other}" ${LINE}`, `${other} ${LINE}`, `"${other} ${LINE}`]);
      const listed = listLines(lines);
      for (const [i, line] of lines.entries()) {
        const expected = listed[i]?.fingerprint;
        const fingerprints = readAuthorizedKeys(line).map((key) => fingerprint(key.base64));
        if (expected !== undefined)
          expect({ line, found: fingerprints.includes(expected) }).toEqual({ line, found: true });
      }
      expect(listed[0]?.fingerprint).toBe(ED25519.fingerprint);
    },
  );

  test.if(needs("ssh-keygen"))(
    "readAuthorizedKeys() finds an RSA key under other names and with padded numbers",
    () => {
      const lines = [
        `rsa-sha2-256 ${RSA.base64}`,
        `ssh-rsa ${withInnerType(RSA, "rsa-sha2-512")}`,
        `ssh-rsa ${withInnerType(RSA, "RSA")}`,
        `ssh-rsa ${padded(RSA)}`,
      ];
      expect(listLines(lines).map((listed) => listed?.fingerprint)).toEqual(lines.map(() => RSA.fingerprint));
      expect(readAuthorizedKeys(lines.join("\n"))).toEqual(lines.map(() => ({ type: "ssh-rsa", base64: RSA.base64 })));
    },
  );

  test("readAuthorizedKeys() skips comment lines, text after a NUL and keys inside quotes", () => {
    expect(readAuthorizedKeys(`# ${LINE}\n \t#${LINE}\n\0${LINE}\ncommand="x ${LINE} y" z\n`)).toEqual([]);
  });

  test.if(needs("ssh-keygen"))("readAuthorizedKeys() finds every key that ssh-keygen finds in damaged lines", () => {
    const names = ["ed25519", "ecdsa-nistp256", "ecdsa-nistp384", "ecdsa-nistp521", "rsa-2048", "rsa-16384"];
    const lines = [...names, "sk-ed25519", "sk-ecdsa"].flatMap((name) =>
      mutations(acceptedKey(name).split(" ", 2).join(" ")),
    );
    let found = 0;
    for (const [i, listed] of listLines(lines).entries()) {
      if (listed === undefined) continue;
      const line = lines[i] ?? "";
      const fingerprints = readAuthorizedKeys(line).map((key) => fingerprint(key.base64));
      expect({ line, fingerprints }).toEqual({ line, fingerprints: [listed.fingerprint] });
      found++;
    }
    expect(found).toBeGreaterThan(300);
  });

  test("readAuthorizedKeys() never throws, whatever the text", () => {
    const pieces = fc.array(fc.oneof(fc.constantFrom(LINE, '"', "\\", "\n", " ", "#"), fc.string({ unit: "binary" })));
    fc.assert(
      fc.property(pieces, (parts) => {
        for (const key of readAuthorizedKeys(parts.join(""))) expect(KEY_TYPES).toContain(key.type);
      }),
      { numRuns: 1000 },
    );
  });
});

function hostKey(id: number, vector: string): HostKey {
  const { type, base64, fingerprint } = parsePublicKey(acceptedKey(vector), KEY_TYPES);
  return { id, type, base64, fingerprint };
}

/** The rule of auth_authorise_keyopts() in OpenSSH's auth2-pubkeyfile.c: `valid_before < now`, both in whole seconds. */
function sshdRefuses(validBefore: Date, now: number): boolean {
  return Math.floor(validBefore.getTime() / 1000) < Math.floor(now / 1000);
}

function timeIn(file: string): string {
  return /^expiry-time="(\d{14}Z?)" /.exec(file)?.[1] ?? "no time";
}

function instantOf(time: string): Date {
  return new Date(time.replace(/^(....)(..)(..)(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

function fingerprint(base64: string): string {
  return `SHA256:${createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64").replace(/=+$/, "")}`;
}

function withInnerType(key: HostKey, name: string): string {
  const blob = Buffer.from(key.base64, "base64");
  return Buffer.concat([string(Buffer.from(name)), blob.subarray(4 + blob.readUInt32BE(0))]).toString("base64");
}

/** The same RSA key with two more zero bytes in front of its modulus, which is the last field. */
function padded(key: HostKey): string {
  const blob = Buffer.from(key.base64, "base64");
  const modulus = blob.subarray(blob.length - 257);
  return Buffer.concat([
    blob.subarray(0, blob.length - 261),
    string(Buffer.concat([Buffer.alloc(2), modulus])),
  ]).toString("base64");
}

function string(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(bytes.length);
  return Buffer.concat([size, bytes]);
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof UamError) return error.code;
    throw error;
  }
  return "nothing thrown";
}

describe("networks", () => {
  const networks = ["192.0.2.0/24", "2001:db8::/32"];

  test("renderAuthorizedKeys() names them beside the expiry, and leaves out a key that may be used from nowhere", () => {
    const text = renderAuthorizedKeys(
      [
        { ...ED25519, networks },
        { ...RSA, networks: [] },
      ],
      NOON,
      UTC,
    );
    expect(text).toBe(`expiry-time="20261120115959Z",from="192.0.2.0/24,2001:db8::/32" ${LINE} uam:7\n`);
    expect(readAuthorizedKeys(text)).toEqual([{ type: "ssh-ed25519", base64: ED25519.base64 }]);
    expect(renderAuthorizedKeys([{ ...RSA, networks: [] }], NOON, UTC)).toBe("");
  });

  test.each([["192.0.2.1/24"], ["192.0.2.1"], ["*"], ["!192.0.2.0/24"], ['192.0.2.0/24",command="id'], ["a,b"], [""]])(
    "renderAuthorizedKeys() refuses %p",
    (network) => {
      const keys = [{ ...ED25519, networks: [...networks, network] }];
      expect(() => renderAuthorizedKeys(keys, NOON, UTC)).toThrow(
        "The stored networks of the SSH key 7 are damaged: they are not canonical",
      );
    },
  );
});
