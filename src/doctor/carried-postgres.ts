/** Whether there is a newer PostgreSQL than the one that this program carries, as far as this machine knows without asking anybody. */

import { findCommand, runCommand } from "../host/command.ts";
import type { BroughtPostgres } from "../store/postgres/postgres-brought.ts";
import { areaOf, type Finding } from "./finding.ts";

const area = areaOf("database");

/** A note if the machine's package lists have a newer minor version; nothing is fetched, and nothing changed. */
export async function checkCarriedPostgres(
  { version, origin }: BroughtPostgres,
  aptCache: string = "/usr/bin/apt-cache",
): Promise<readonly Finding[]> {
  const [major = "", minor = ""] = version.split(".");
  const found = findCommand(aptCache);
  const policy = found === undefined ? "" : (await runCommand([found, "policy", `postgresql-${major}`])).stdout;
  const known = versionsOf(policy).filter((each) => each.startsWith(`${major}.`));
  const newest = known.sort((one, other) => minorOf(other) - minorOf(one))[0];
  if (newest === undefined)
    return [
      area.ok(
        `The carried PostgreSQL is ${version} (${origin}); whether there is a newer one cannot be told here: no package list has PostgreSQL ${major}`,
      ),
    ];
  if (minorOf(newest) <= Number(minor))
    return [area.ok(`The carried PostgreSQL is ${version}, and no newer is known here`)];
  return [
    area.note(
      `The carried PostgreSQL is ${version} (${origin}), and this machine's package lists have ${newest}`,
      "install a newer uam, whose changelog says which PostgreSQL it carries; or use the machine's own with UAM_DATABASE_URL",
    ),
  ];
}

/** The upstream versions in what `apt-cache policy` prints: its table has one a line, with its priority, and sources further in. Pure. */
function versionsOf(policy: string): readonly string[] {
  return [...policy.matchAll(/^ (?:\*\*\*| {3}) (?:\d+:)?(\d+\.\d+)\S* -?\d+$/gm)].map(([, version = ""]) => version);
}

function minorOf(version: string): number {
  return Number(version.split(".")[1]);
}
