/** The rules and the filter of docs/monitoring.md, on what the service really shows and logs. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLog } from "../src/server/logging.ts";
import { createMetrics } from "../src/server/metrics/metrics.ts";
import { createTestApp, type TestApp } from "./support/app.ts";
import { documentText } from "./support/documents.ts";

const DOCUMENT = documentText("docs/monitoring.md");
const RULES = blockWith("yaml", "groups:");
const FILTER = blockWith("ini", "failregex");

const lines: string[] = [];
const log = openLog({ format: "json", level: "info", journal: false, write: (line) => void lines.push(line) });
let app: TestApp;
let directory = "";
beforeAll(async () => {
  app = await createTestApp({}, log);
  directory = mkdtempSync(join(tmpdir(), "uam-monitoring-"));
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

function blockWith(language: string, text: string): string {
  const blocks = [...DOCUMENT.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))];
  const found = blocks.find(([, block]) => block?.includes(text))?.[1];
  if (found === undefined) throw new Error(`docs/monitoring.md has no ${language} with ${text}`);
  return found;
}

test("every metric that is named is shown, and every one of the service's own is named", async () => {
  const metrics = createMetrics({ services: app.services, version: "1", runtime: "t" });
  const shown = await (await metrics.fetch(new Request("http://127.0.0.1:9100/metrics"))).text();
  const names = [...shown.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
  const used = [...DOCUMENT.matchAll(/\b(?:uam|process)_[a-z_]*[a-z]\b/g)].map(([name]) => name);
  expect(used.length).toBeGreaterThan(15);
  expect(used.filter((name) => !names.includes(name.replace(/_count$/, "")))).toEqual([]);
  expect(names.filter((name) => name.startsWith("uam_") && !used.includes(name))).toEqual([]);
});

test.skipIf(Bun.which("promtool") === null)("promtool accepts the rules", () => {
  const path = join(directory, "rules.yml");
  writeFileSync(path, RULES);
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", path], { encoding: "utf8" });
  expect([status, stdout + stderr]).toEqual([0, expect.stringMatching(/SUCCESS: \d+ rules found/)]);
});

/** Who is to be found in what `logged` returns; the last line is nobody's. */
const GUESSERS = ["203.0.113.77", "2001:db8::7", "203.0.113.78"];

/** The lines about three who guess, two of them with what looks like a line, and about somebody who is only not logged in. */
async function logged(): Promise<readonly string[]> {
  lines.length = 0;
  const [first, second, third = ""] = GUESSERS;
  const typed = '","message":"a login failed","address":"198.51.100.9';
  await app.anonymous(first).call("POST", "/auth/admin/login", { username: typed, password: "wrong" });
  await app.anonymous(second).call("POST", "/auth/otp/login", { username: "nobody", code: "12345678" });
  const headers = { authorization: `Bearer uam_${typed}"` };
  await app.app.fetch(new Request("http://127.0.0.1:8080/api/v1/users", { headers }), third);
  await app.anonymous("203.0.113.79").call("GET", "/users");
  // As the journal hands them over.
  return lines.map((line) => `host uam[77]: ${line}`);
}

test("the filter finds the client's address in each failed login and refused token, and in no other line", async () => {
  const [, pattern = ""] = /^failregex = (.*)$/m.exec(FILTER) ?? [];
  const filter = new RegExp(pattern.replace("<ADDR>", "([0-9a-f.:]+)"));
  expect((await logged()).map((line) => filter.exec(line)?.[1])).toEqual([...GUESSERS, undefined]);
});

test.skipIf(Bun.which("fail2ban-regex") === null)("fail2ban reads the filter, and finds the same", async () => {
  const [journal, filter] = [join(directory, "journal"), join(directory, "uam.conf")];
  writeFileSync(journal, (await logged()).map((line) => `2026-11-20T08:00:00 ${line}`).join(""));
  writeFileSync(filter, FILTER);
  const { status, stdout } = spawnSync("fail2ban-regex", ["-o", "ip", journal, filter], { encoding: "utf8" });
  expect([status, stdout.trim().split("\n")]).toEqual([0, GUESSERS]);
});
