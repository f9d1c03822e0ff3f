import { describe, expect, test } from "bun:test";
import { judgeIndex } from "../../../src/build/postgres/behind.ts";
import { SOURCE } from "../../../src/build/postgres/pinned.ts";

const source = { name: "postgresql-18", version: "18.6-3" };
const entry = (name: string, version: string) =>
  `Package: ${name}\nBinary: a, b\nVersion: ${version}\nFormat: 3.0 (quilt)\n`;

describe("judgeIndex()", () => {
  test("has nothing against the newest, also where an older one is listed beside it", () => {
    const index = [entry("postgresql-18", "18.4-1"), entry("postgresql-18", "18.6-3")].join("\n");
    expect(judgeIndex(index, source)).toEqual({ exitCode: 0, text: "Debian has no newer postgresql-18 than 18.6-3." });
  });

  test.each(["18.7-1", "18.10-1", "18.6-4", "18.6-3+deb14u1"])("fails where Debian has %s", (version) => {
    const { exitCode, text } = judgeIndex(
      [entry("postgresql-18", "18.6-3"), entry("postgresql-18", version)].join("\n"),
      source,
    );
    expect(exitCode).toBe(1);
    expect(text).toStartWith(`Debian has postgresql-18 ${version}, and src/build/postgres/pinned.ts pins 18.6-3`);
  });

  test("does not mistake another package for it, and fails where it is gone", () => {
    const index = [entry("postgresql-19", "19.1-1"), entry("postgresql-18-x", "18.9-1")].join("\n");
    expect(judgeIndex(index, source).exitCode).toBe(1);
    expect(judgeIndex("", source).exitCode).toBe(1);
  });
});

test("SOURCE names files of its own version", () => {
  const upstream = SOURCE.version.replace(/-[^-]*$/, "");
  for (const name of Object.keys(SOURCE.files)) expect(name).toStartWith(`${SOURCE.name}_${upstream}`);
});
