import { describe, expect, test } from "bun:test";
import { hash, parseOptions } from "@node-rs/argon2";
import fc from "fast-check";
import {
  checkPassword,
  createPasswordHasher,
  generatePassword,
  PASSWORD_MAX,
} from "../../../../src/domain/auth/administrators/passwords.ts";

describe("checkPassword", () => {
  test("checkPassword() accepts any 15 to 256 code points", () => {
    for (const password of [
      "correct horse battery staple",
      "zgRq8!vTm2#Lw9z",
      "ÄÖÜäöüßÄÖÜäöüßñ",
      "🔑🗝🔒🔓🔏🔐🧷🧲🧪🧫🧬🧹🧺🧻🧼",
      `${"correct horse battery staple ".repeat(8)}${"x".repeat(24)}`,
      "test-password-1",
      "my admin password",
      "Winter-Moon-Lamp",
    ]) {
      expect(() => checkPassword(password, "root-admin")).not.toThrow();
    }
  });

  test("checkPassword() counts code points, not UTF-16 units", () => {
    expect(() => checkPassword("🔑".repeat(14), "ops")).toThrow("The password has 14 characters, the minimum is 15");
    const longest = Array.from({ length: PASSWORD_MAX }, (_, index) => String.fromCodePoint(0x1f300 + index)).join("");
    expect(() => checkPassword(longest, "ops")).not.toThrow();
    expect(() => checkPassword(`${longest}x`, "ops")).toThrow("The password has 257 characters, the maximum is 256");
  });

  test("checkPassword() counts and compares in NFC", () => {
    expect(() => checkPassword("e\u0301".repeat(14), "ops")).toThrow("The password has 14 characters");
    expect(() => checkPassword("hunting-zo\u0065\u0308-in-the-fog", "zo\u00eb")).toThrow(
      "must not contain the username",
    );
  });

  test("checkPassword() refuses the username in any case", () => {
    expect(() => checkPassword("hunting-ALICE-in-the-fog", "alice")).toThrow("must not contain the username");
    expect(() => checkPassword("hunting-alice-in-the-fog", "Alice")).toThrow("must not contain the username");
    expect(() => checkPassword("hunting-alyce-in-the-fog", "alice")).not.toThrow();
  });

  test("checkPassword() refuses the most common", () => {
    for (const password of [
      "passwordpassword",
      "PasswordPassword1",
      "P@ssw0rdP@ssw0rd",
      "password password",
      "password1234567",
      "123456789012345",
      "1234567890123456",
      "987654321987654321",
      "aaaaaaaaaaaaaaa",
      "abcabcabcabcabc",
      "abcdefghijklmno",
      "qwertyuiopasdfgh",
      "qwertyuiop12345",
      "1qaz2wsx3edc4rfv",
      "1q2w3e4r5t6y7u8i",
      "111222333444555",
      "iloveyouiloveyou",
      "letmeinletmeinletmein",
      "administrator123",
      "welcomewelcome2026!",
      "correcthorsebatterystaple",
      "thisismypassword",
      "adminadminadminadmin",
      "trustno1trustno1",
    ]) {
      expect(() => checkPassword(password, "ops")).toThrow("one of the most common");
    }
  });

  test("checkPassword() accepts random passwords and ends within milliseconds for the worst", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        fc.pre(new Set(bytes).size > 8);
        checkPassword(Buffer.from(bytes).toString("base64"), "someone");
      }),
    );
    // A pattern that backtracked here would run into the test's own time-out.
    expect(() => checkPassword(`${"abc123".repeat(42)}~z9`, "ops")).not.toThrow();
  });
});

describe("generatePassword", () => {
  test("generatePassword() makes distinct passwords that checkPassword() accepts, whatever the username", () => {
    const made = Array.from({ length: 200 }, () => generatePassword("k"));
    expect(new Set(made).size).toBe(200);
    for (const password of made) {
      expect(password).toMatch(/^[a-z0-9]{4}(-[a-z0-9]{4}){5}$/);
      expect(() => checkPassword(password, "k")).not.toThrow();
    }
  });
});

describe("createPasswordHasher", () => {
  /** Until what was asked for before has its place. */
  async function turns(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }

  const hasher = createPasswordHasher();

  test("hash() makes argon2id of 64 MiB, t=2, p=1 that only the same password verifies", async () => {
    const stored = await hasher.hash("correct horse battery staple");
    expect(stored).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
    expect(await hasher.hash("correct horse battery staple")).not.toBe(stored);
    expect(await hasher.verify(stored, "correct horse battery staple")).toBe(true);
    expect(await hasher.verify(stored, "correct horse battery stapler")).toBe(false);
  });

  test("verify() accepts a password in any Unicode form, and the exact bytes of an older hash", async () => {
    const composed = "Zo\u00eb und die \u00c4pfel im Garten";
    const decomposed = composed.normalize("NFD");
    const stored = await hasher.hash(decomposed);
    for (const form of [composed, decomposed]) expect(await hasher.verify(stored, form)).toBe(true);
    expect(await hasher.verify(stored, "Zoe und die Apfel im Garten")).toBe(false);
    const older = await hash(decomposed, { algorithm: 2, timeCost: 2, parallelism: 1, memoryCost: 256 });
    expect(await hasher.verify(older, decomposed)).toBe(true);
  });

  test("verifyDummy() hashes as often as a verify() that fails, for passwords that are not in NFC too", async () => {
    const weak = createPasswordHasher({ concurrency: 1, maxQueue: 1 }, { password: 256, code: 256 });
    const stored = await weak.hash("another password");
    // A task that came later, behind the first hash, is done before the second one has begun.
    const order = async (call: () => Promise<unknown>) => {
      const done: string[] = [];
      const first = call().then(() => done.push("password"));
      await weak.verifyDummyCode("1").then(() => done.push("code"));
      await first;
      return done;
    };
    for (const call of [(text: string) => weak.verify(stored, text), (text: string) => weak.verifyDummy(text)]) {
      expect(await order(() => call("plain"))).toEqual(["password", "code"]);
      expect(await order(() => call("Zoe\u0308"))).toEqual(["code", "password"]);
    }
  });

  test("hashCode() makes argon2id of 19 MiB that only the same code verifies", async () => {
    const stored = await hasher.hashCode("01234567");
    expect(parseOptions(stored)).toMatchObject({ memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    expect(await hasher.verifyCode(stored, "01234567")).toBe(true);
    expect(await hasher.verifyCode(stored, "01234568")).toBe(false);
  });

  test("verify() says what to do about a hash that cannot be read", async () => {
    await expect(hasher.verify("not a hash", "x")).rejects.toMatchObject({ code: "internal" });
  });

  // That both take the same time is measured by test/bench/enumeration.ts.
  test("strangers take half of the places, and leave the others to who has shown something", async () => {
    const narrow = createPasswordHasher({ concurrency: 1, maxQueue: 3 }, { password: 256, code: 256 });
    const outcome = (call: Promise<unknown>) =>
      call.then(
        () => "done",
        (error: { reason: string }) => error.reason,
      );
    const strangers = [
      ...[outcome(narrow.verifyDummyCode("1")), outcome(narrow.verifyDummy("a password", false))],
      ...[outcome(narrow.verifyDummyCode("1")), outcome(narrow.verifyDummy("a password", false))],
    ];
    await turns();
    const known = [outcome(narrow.hashCode("1")), outcome(narrow.verifyDummy("a password", true))];
    expect(await Promise.all(known)).toEqual(["done", "done"]);
    expect(await Promise.all(strangers)).toEqual(["done", "done", "service.busy", "service.busy"]);
  });

  test("verifyDummy() and verifyDummyCode() take a place in the queue, as a verify() does", async () => {
    const narrow = createPasswordHasher({ concurrency: 1, maxQueue: 1 });
    const dummies = [narrow.verifyDummy("wrong"), narrow.verifyDummyCode("1")];
    await turns();
    dummies.push(narrow.verifyDummy("wrong"));
    expect((await Promise.allSettled(dummies)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
  });

  test("hash() refuses with limited once the queue is full, and works again when it is not", async () => {
    const narrow = createPasswordHasher({ concurrency: 1, maxQueue: 2, retryAfter: 7 });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => narrow.hashCode("1")));
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    expect(results.at(-1)).toMatchObject({ reason: { code: "limited", retryAfter: 7 } });
    expect(await narrow.hashCode("1")).toStartWith("$argon2id$");
  });
});
