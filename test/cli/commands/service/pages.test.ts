import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPages } from "../../../../src/cli/commands/service/pages.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { PNG, WEBP } from "../../../support/logo.ts";

const directory = mkdtempSync(join(tmpdir(), "uam-pages-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const BUNDLE = { page: "<!doctype html>", files: {} };

describe("openPages", () => {
  test("openPages() reads a new logo when it is told to, and keeps the old one where the new one is none", () => {
    const said: string[] = [];
    const log = { ...silentLog, error: (text: string) => void said.push(text) };
    const brandLogo = join(directory, "logo.png");
    writeFileSync(brandLogo, PNG);
    const pages = openPages({ console: true, brandLogo }, log, () => BUNDLE);
    const first = pages.logo() ?? "";
    const statusOf = (path: string) => pages.answer?.(new Request(`http://127.0.0.1${path}`), path)?.status;
    expect([first.slice(-4), statusOf(first)]).toEqual([".png", 200]);
    writeFileSync(brandLogo, "none");
    pages.reload();
    expect([pages.logo(), statusOf(first)]).toEqual([first, 200]);
    expect(said).toEqual(["the new logo cannot be used; the old one stays in use"]);
    writeFileSync(brandLogo, WEBP);
    pages.reload();
    expect([statusOf(first), statusOf(pages.logo() ?? "")]).toEqual([undefined, 200]);
    expect(said).toHaveLength(1);
  });

  test("openPages() without pages names no logo, and refuses a wrong one all the same", () => {
    const brandLogo = join(directory, "right.png");
    writeFileSync(brandLogo, PNG);
    expect(openPages({ console: false, brandLogo }, silentLog, () => BUNDLE)).toMatchObject({ answer: undefined });
    expect(openPages({ console: false, brandLogo }, silentLog, () => BUNDLE).logo()).toBeUndefined();
    writeFileSync(brandLogo, "<svg/>");
    expect(() => openPages({ console: false, brandLogo }, silentLog, () => BUNDLE)).toThrow("neither a PNG nor a WebP");
    const plain = openPages({ console: true, brandLogo: undefined }, silentLog, () => BUNDLE);
    plain.reload();
    expect(plain.logo()).toBeUndefined();
  });
});
