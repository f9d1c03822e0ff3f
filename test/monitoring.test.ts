/** The rules, the dashboard and the filter of docs/monitoring.md, on what the service really shows and logs. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { openLog } from "../src/server/logging.ts";
import { createMetrics } from "../src/server/metrics/metrics.ts";
import { createTestApp, type TestApp } from "./support/app.ts";
import { documentText } from "./support/documents.ts";

const DOCUMENT = documentText("docs/monitoring.md");
const RULES = documentText("deploy/prometheus/uam.rules.yaml");
const CASES = documentText("deploy/prometheus/uam.rules.test.yaml");
const DASHBOARD: { readonly panels: readonly { readonly title: string; readonly targets: readonly Query[] }[] } =
  JSON.parse(documentText("deploy/grafana/uam.json"));
const QUERIES = DASHBOARD.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const FILTER = blockWith("ini", "failregex");

interface Query {
  readonly expr: string;
}

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
  const namesIn = (text: string) => [...text.matchAll(/\b(?:uam|process)_[a-z_]*[a-z]\b/g)].map(([name]) => name);
  const used = namesIn(DOCUMENT + RULES + QUERIES.join("\n"));
  expect(used.length).toBeGreaterThan(15);
  expect(used.filter((name) => !names.includes(name.replace(/_(?:count|bucket)$/, "")))).toEqual([]);
  expect(names.filter((name) => name.startsWith("uam_") && !namesIn(DOCUMENT).includes(name))).toEqual([]);
});

/** What promtool says about a file of deploy/prometheus, or another. */
function promtool(...argv: readonly string[]): readonly [number | null, string] {
  const cwd = join(import.meta.dir, "../deploy/prometheus");
  const { status, stdout, stderr } = spawnSync("promtool", argv, { cwd, encoding: "utf8" });
  return [status, stdout + stderr];
}

const withoutPromtool = Bun.which("promtool") === null && process.env.UAM_TEST_HOST !== "1";

test("each alert is in the document, with what to do, and in a case in which it fires", () => {
  const alerts = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
  expect(alerts.length).toBeGreaterThan(10);
  const rows = [...DOCUMENT.matchAll(/^\| (Uam\w+) \| .+ \| .+ \|$/gm)].map(([, name = ""]) => name);
  expect(rows).toEqual(alerts);
  const fired = [...CASES.matchAll(/alertname: (\w+)\n {8}exp_alerts:\n/g)].map(([, name = ""]) => name);
  expect(fired).toEqual(alerts);
});

test.skipIf(withoutPromtool)("promtool fires each alert when it should, and not before", () => {
  expect(promtool("check", "rules", "uam.rules.yaml")).toEqual([0, expect.stringMatching(/SUCCESS: \d+ rules found/)]);
  expect(promtool("test", "rules", "uam.rules.test.yaml")).toEqual([0, expect.stringContaining("SUCCESS")]);
});

test.skipIf(withoutPromtool)("Prometheus can read each query of the dashboard", () => {
  const path = join(directory, "queries.yml");
  const records = QUERIES.map((expr, index) => ({ record: `uam:query:${index}`, expr }));
  writeFileSync(path, JSON.stringify({ groups: [{ name: "dashboard", rules: records }] }));
  expect(promtool("check", "rules", path)).toEqual([0, expect.stringContaining(`${QUERIES.length} rules found`)]);
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
