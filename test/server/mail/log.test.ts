import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogTransport } from "../../../src/server/mail/log.ts";

const MESSAGE = { to: "alice@example.org", subject: "Your code", text: "01234567\n", html: "<p>01234567</p>" };
const clock = { now: () => new Date("2026-11-20T08:00:00.000Z") };
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-mail-"));
  path = join(directory, "mail.log");
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("createLogTransport", () => {
  test("send() appends one JSON object a line to a file of mode 0600", async () => {
    const transport = createLogTransport({ path, clock });
    await Promise.all(Array.from({ length: 50 }, () => transport.send(MESSAGE, "k")));
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(50);
    for (const line of lines) {
      expect(JSON.parse(line)).toEqual({
        time: "2026-11-20T08:00:00.000Z",
        to: MESSAGE.to,
        subject: MESSAGE.subject,
        text: MESSAGE.text,
      });
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("send() corrects a mode that lets others read", async () => {
    writeFileSync(path, "", { mode: 0o644 });
    chmodSync(path, 0o644);
    expect(await createLogTransport({ path, clock }).send(MESSAGE, "k")).toEqual({ kind: "sent" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("send() begins a new line after an incomplete one", async () => {
    writeFileSync(path, '{"time":"2026');
    await createLogTransport({ path, clock }).send(MESSAGE, "k");
    const [torn, whole] = readFileSync(path, "utf8").split("\n");
    expect(torn).toBe('{"time":"2026');
    expect(JSON.parse(whole ?? "").to).toBe(MESSAGE.to);
  });

  test("send() never follows a link", async () => {
    const target = join(directory, "target");
    writeFileSync(target, "untouched", { mode: 0o644 });
    symlinkSync(target, path);
    const result = await createLogTransport({ path, clock }).send(MESSAGE, "k");
    expect(result.kind).toBe("retry");
    expect(readFileSync(target, "utf8")).toBe("untouched");
    expect(statSync(target).mode & 0o777).toBe(0o644);
  });

  test("send() creates a new file once the old one was rotated away", async () => {
    const transport = createLogTransport({ path, clock });
    await transport.send(MESSAGE, "k");
    rmSync(path);
    expect(await transport.send(MESSAGE, "k")).toEqual({ kind: "sent" });
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(2);
  });

  test("send() refuses an address or subject that would break out of its header", async () => {
    const transport = createLogTransport({ path, clock });
    for (const to of [
      "a@b.org\r\nBcc: c@d.org",
      "a@b.org, c@d.org",
      "a <a@b.org>",
      "a",
      "",
      "a@b@c.org",
      "a b@c.org",
      "a@b.org\u0000",
    ]) {
      expect((await transport.send({ ...MESSAGE, to }, "k")).kind).toBe("reject");
    }
    for (const subject of ["a\nb", "a\rb", "a\u0000", "a\u2028b"]) {
      expect((await transport.send({ ...MESSAGE, subject }, "k")).kind).toBe("reject");
    }
  });

  test("verify() says what is wrong, and passes when all is well", async () => {
    await createLogTransport({ path, clock }).verify();
    await expect(createLogTransport({ path: join(directory, "no/mail.log"), clock }).verify()).rejects.toMatchObject({
      code: "internal",
    });
    mkdirSync(join(directory, "dir"));
    await expect(createLogTransport({ path: join(directory, "dir"), clock }).verify()).rejects.toThrow(
      "cannot be written",
    );
  });
});
