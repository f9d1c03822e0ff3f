import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLogo } from "../../../src/server/console/logo.ts";
import { PNG, WEBP } from "../../support/logo.ts";

const directory = mkdtempSync(join(tmpdir(), "uam-logo-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function fileOf(name: string, content: string | Uint8Array): string {
  const file = join(directory, name);
  writeFileSync(file, content);
  return file;
}

describe("readLogo", () => {
  test("readLogo() says by its content what a picture is, and names it by that", () => {
    const png = readLogo(fileOf("logo.webp", PNG));
    const { path, type } = png;
    expect(path).toMatch(/^\/assets\/logo-[0-9a-f]{16}\.png$/);
    expect(type).toBe("image/png");
    expect(Buffer.from(png.bytes).equals(PNG)).toBe(true);
    expect(readLogo(fileOf("other", PNG)).path).toBe(path);
    expect(readLogo(fileOf("logo", WEBP))).toMatchObject({
      path: expect.stringMatching(/\.webp$/),
      type: "image/webp",
    });
  });

  test.each([
    ["an SVG", '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ["a page", "<!doctype html><script>alert(1)</script>"],
    ["another file of its family", "RIFF\x04\x00\x00\x00WAVE"],
    ["the beginning of a PNG", "\x89PNG"],
    ["nothing", ""],
  ])("readLogo() takes no %s", (_, content) => {
    const file = fileOf("logo.png", Buffer.from(content, "latin1"));
    expect(() => readLogo(file)).toThrow(`${file} is neither a PNG nor a WebP picture`);
  });

  test("readLogo() takes as much as a logo may have, and no more", () => {
    const most = Buffer.concat([PNG, Buffer.alloc(64 * 1024 - PNG.length)]);
    expect(readLogo(fileOf("most.png", most)).bytes).toHaveLength(64 * 1024);
    const file = fileOf("more.png", Buffer.concat([most, Buffer.alloc(1)]));
    expect(() => readLogo(file)).toThrow(`${file} has 65537 bytes; a logo has at most 65536`);
  });

  test("readLogo() says that a file cannot be read, and waits for nobody to write into a pipe", () => {
    expect(() => readLogo(join(directory, "none.png"))).toThrow(`${join(directory, "none.png")} cannot be read`);
    expect(() => readLogo(directory)).toThrow(`${directory} is not a file`);
    const pipe = join(directory, "pipe.png");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    expect(() => readLogo(pipe)).toThrow(`${pipe} is not a file`);
  });
});
