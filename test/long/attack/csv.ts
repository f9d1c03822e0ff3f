/** The audit log's export, opened by a spreadsheet: whatever separates cells where it is opened, no text in it becomes a formula. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { openDatabase } from "../../../src/store/client.ts";
import { withGuardsDown } from "../../../src/store/protect.ts";
import { createTestApp } from "../../support/app.ts";
import { say } from "./tools.ts";

export const SPREADSHEET = "/usr/bin/soffice";
/** Comma, semicolon, tab: what LibreOffice and Excel take, by country. */
const SEPARATORS = [44, 59, 9];
const BEGINNINGS = [
  "=",
  "+",
  "-",
  "@",
  "＝",
  "\t=",
  "\r=",
  " =",
  "'=",
  '"=',
  ";=",
  "; =",
  '";"=',
  ",=",
  '","=',
  "\n=",
  ";@",
  ";-",
];
const FORMULAS = ["1+1", 'HYPERLINK("http://evil.example/","x")', "cmd|' /C calc'!A0", "SUM(1,2)", "WEBSERVICE(1)"];

/** What a spreadsheet ran or would fetch, a line each. */
export async function csv(tell: (line: string) => void): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), "uam-csv-"));
  try {
    // One without any protection, so that it is certain that formulas are seen.
    writeFileSync(join(directory, "plain.csv"), 'a,b\r\n"=1+1","=HYPERLINK(""http://evil.example/"",""x"")"\r\n');
    if ((await formulasIn(directory, "plain.csv", 44)).length !== 2) throw new Error("formulas are not found by this");
    const texts = BEGINNINGS.flatMap((beginning) => FORMULAS.map((formula) => `${beginning}${formula}`));
    writeFileSync(join(directory, "audit.csv"), await exported([...texts, ...texts.map((text) => `x;${text};y`)]));
    const found: string[] = [];
    for (const separator of SEPARATORS) {
      const formulas = await formulasIn(directory, "audit.csv", separator);
      found.push(...formulas.map((formula) => `separated by character ${separator}: ${formula}`));
    }
    tell(`${texts.length * 2} texts, as names and in details, with ${SEPARATORS.length} separators`);
    return found;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The service's own export of records that hold these texts. */
async function exported(texts: readonly string[]): Promise<string> {
  const app = await createTestApp();
  const root = openDatabase(app.superuser, 1);
  try {
    const admin = await app.admin();
    await root.db.transaction((tx) =>
      withGuardsDown(tx, async () => {
        for (const text of texts) {
          await tx.execute(sql`
            with head as (update audit_head set id = id + 1 returning id, created_at)
            insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip)
            select id, created_at, 'admin', ${text}, 'user.delete', 'user', ${text}, ${JSON.stringify({ err: text })}, 'success', ${text}
            from head`);
        }
      }),
    );
    return (await admin.call("GET", "/audit/export")).text;
  } finally {
    await root.close();
    await app.close();
  }
}

/** The formulas and links of the file as the spreadsheet reads it. */
async function formulasIn(directory: string, name: string, separator: number): Promise<readonly string[]> {
  const how = [
    `-env:UserInstallation=file://${directory}/profile`,
    "--headless",
    `--infilter=CSV:${separator},34,76,1`,
  ];
  const argv = [SPREADSHEET, ...how, "--convert-to", "fods", "--outdir", directory, join(directory, name)];
  const { status, text } = await say(argv, 120);
  if (status !== 0) throw new Error(`the spreadsheet ended with ${status}: ${text.slice(-500)}`);
  const read = readFileSync(join(directory, name.replace(/csv$/, "fods")), "utf8");
  return [...read.matchAll(/table:formula="[^"]*"|<text:a [^>]*>|<table:dde-link[^>]*>/g)].map(([found]) => found);
}
