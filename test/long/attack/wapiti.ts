/** wapiti on the pages and on the API's own reading routes, with all of its modules that ask nobody else. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PAGES } from "../../../src/shared/product/pages.ts";
import { apiDocument } from "../../support/openapi.ts";
import type { Target } from "./target.ts";
import { say } from "./tools.ts";

const WAPITI = "/usr/bin/wapiti";
const LIMIT = 900;
const MODULES =
  "backup,blindsql,cookieflags,crlf,csp,exec,file,htaccess,http_headers,methods,permanentxss,redirect,shellshock,sql,xss";

/** What it reports although it is right so, and why. */
const RIGHT = [
  // The header is obsolete: browsers dropped what it switched on, which had faults of its own.
  /X-XSS-Protection is not set/,
  // Over plain HTTP, where it is tried here, browsers ignore it.
  /Strict-Transport-Security is not set/,
];

/** What wapiti found, a line each; none is well. */
export async function wapiti(target: Target, tell: (line: string) => void): Promise<readonly string[]> {
  const owner = await target.enter("owner");
  const directory = mkdtempSync(join(tmpdir(), "uam-wapiti-"));
  const report = join(directory, "report.json");
  const pages = Object.values(PAGES).map((path) => `${target.service.origin}${path.replace(":id", "1")}`);
  const routes = Object.entries(apiDocument.paths).filter(([, item]) => item?.get !== undefined);
  const reads = routes.map(([path, item]) => {
    const query = (item?.get?.parameters ?? []).filter((it) => it.in === "query").map(({ name }) => `${name}=1`);
    return `${target.api}${path.replace(/\{\w+\}/g, "1")}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  });
  try {
    const starts = [...pages, ...reads].flatMap((url) => ["-s", url]);
    const headers = Object.entries(owner.headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const how = [
      "--flush-session",
      "--scope",
      "domain",
      "-m",
      MODULES,
      "-l",
      "2",
      "-d",
      "1",
      "--max-scan-time",
      String(LIMIT - 60),
    ];
    const where = ["--store-session", directory, "-f", "json", "-o", report];
    const { status, text } = await say(
      [WAPITI, "-u", `${target.service.origin}/`, ...starts, ...headers, ...how, ...where],
      LIMIT,
    );
    if (status !== 0) throw new Error(`wapiti ended with ${status}:\n${text.slice(-2000)}`);
    tell(`wapiti looked at ${pages.length} pages and ${reads.length} routes`);
    return findings(readFileSync(report, "utf8")).filter((line) => !RIGHT.some((it) => it.test(line)));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Finding {
  readonly path: string;
  readonly info: string;
}

function findings(report: string): readonly string[] {
  const { vulnerabilities, anomalies } = JSON.parse(report) as Record<string, Record<string, readonly Finding[]>>;
  const kinds = Object.entries({ ...vulnerabilities, ...anomalies });
  if (kinds.length < 10) throw new Error(`wapiti's report has only ${kinds.length} kinds of findings`);
  return kinds.flatMap(([kind, found]) => found.map(({ path, info }) => `${kind}: ${path}: ${info}`));
}
