/** A data directory that each older version wrote, with npm's PostgreSQL, opened, migrated and checked by the built binary with its own. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { SERVER_VERSION } from "../../../src/build/postgres/pinned.ts";
import { checkPages } from "../../support/check-pages.ts";
import { BINARY, type Service, startProgram } from "../../support/service.ts";
import { AUDIT_KEY, buildOld, OLD_VERSIONS, type OldVersion } from "./versions.ts";

const USERS = 40;
const variables = { UAM_AUDIT_KEY: AUDIT_KEY, UAM_RATE_LIMIT: "off", UAM_LOG_LEVEL: "warn" };

/** What is wrong, as sentences. */
export async function upgradeEach(parent: string, tell: (line: string) => void): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const version of OLD_VERSIONS) {
    const { binary } = buildOld(version, tell);
    const directory = join(parent, version);
    mkdirSync(directory);
    const password = await fill(binary, directory);
    const service = await startProgram([BINARY], directory, variables);
    try {
      const found = await check(service, { version, directory, password });
      findings.push(...found.map((finding) => `${version}: ${finding}`));
      tell(
        `data of ${version}: ${found.length === 0 ? "opened, migrated, every page and the log verified" : found.join("; ")}`,
      );
    } finally {
      await service.stop();
    }
  }
  return findings;
}

/** Users made by the old program, which stops then; returns the administrator's password. */
async function fill(binary: string, directory: string): Promise<string> {
  const service = await startProgram([binary], directory, variables);
  try {
    const password = service.run(["admin", "add", "old-admin", "--email", "a@example.org"]).stdout.trim();
    const { cookie } = await service.call("POST", "/auth/admin/login", "", { username: "old-admin", password });
    for (let user = 0; user < USERS; user++) {
      const body = { username: `u${user}`, email: `u${user}@example.org` };
      const { status } = await service.call("POST", "/users", cookie, body);
      if (status !== 201) throw new Error(`${binary} answers ${status} to a new user`);
    }
    return password;
  } finally {
    await service.stop();
  }
}

async function check(
  service: Service,
  { directory, password }: { readonly version: OldVersion; readonly directory: string; readonly password: string },
): Promise<readonly string[]> {
  const findings: string[] = [];
  const login = await service.call("POST", "/auth/admin/login", "", { username: "old-admin", password });
  const users = await service.call("GET", "/users", login.cookie);
  if (users.body.data?.total !== USERS) findings.push(`its users are not all there: ${JSON.stringify(users.body)}`);
  const made = await service.call("POST", "/users", login.cookie, { username: "new", email: "new@example.org" });
  if (made.status !== 201) findings.push(`no user can be made: ${JSON.stringify(made.body)}`);
  const verified = service.run(["audit", "verify"]);
  if (verified.status !== 0) findings.push(`audit verify: ${verified.stdout}${verified.stderr}`);
  const host = join(directory, "data/postgres/run");
  const sql = postgres({ host, port: 5432, username: "postgres", database: "uam", max: 1, onnotice: () => {} });
  try {
    const [row] = await sql`
      select current_setting('server_version') as version,
        (select count(*) from pg_collation where collprovider = 'i')::integer as of_icu`;
    if (row?.version !== SERVER_VERSION) findings.push(`it runs on PostgreSQL ${row?.version}`);
    if (row?.of_icu === 0) findings.push("its database lists no collations of ICU, so this shows nothing about them");
    const { problems, tables, indexes } = await checkPages(sql);
    findings.push(...problems);
    if (tables < 50 || indexes < 100) findings.push(`only ${tables} tables and ${indexes} indexes were checked`);
  } finally {
    await sql.end();
  }
  return findings;
}
