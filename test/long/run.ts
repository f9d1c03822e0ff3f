/**
 * `bun run test:long [NAME [OPTION...]]`: what takes more than a few minutes, all of it or one. Exit code 1 if one of them
 * found anything, 2 for a name that there is not. Each is a folder here, whose `run.ts` says what it does and takes.
 */

import { join } from "node:path";
import process from "node:process";

const SUITES: Readonly<Record<string, string>> = {
  debian:
    "the built program on Debian 12, 13 and forky, booted, and 12 becoming 13 under it; one by --suite bookworm, trixie, forky or bookworm-to-trixie",
  release: "bun run release from a clean clone: signed, checked by docs/verify.md, its image run",
  compose: "deploy/compose with podman: from one command to a page, an administrator, a restart and a backup",
  apt: "docs/install.md letter by letter on Debian 12 and 13; and each older version by apt, upgraded, and brought back",
  upgrade: "data of each older version; from 0.1.0 under load: killed, without room, and at last; and a backup of it",
  load: "traffic for an hour while connections are cut and commands fail: what fails, what grows, what is left",
  ansible:
    "docs/ansible.md as it is written, on three booted hosts: from nothing to ten people, a second run, checks, logins",
  "two-years":
    "10,000 users who join, are extended, disabled and enabled, expire and are recycled, held against a model each day",
  year: "a year of 500 users with sponsors, companies and quarterly reviews, restarts and restores, held against the rules",
  model: "10 million steps of one service and one host in memory, with every promise checked, and wrong variants found",
  hours: "10,000 calendars drawn at random, held against a walk minute by minute",
  windows:
    "accounts whose window ends at the same second on a real sshd, while service, database or agent are killed, stopped or cut off",
  morning:
    "10,000 users in direct mode whose hours begin at the same second: until the last is open, and reads meanwhile",
  pairs: "every two operations on one user at the same instant, held against both serial orders",
  scanner: "1,002 links to sponsors opened by GET, HEAD and in Chromium, twice: none of it decides anything",
  managers:
    "10,000 requests of a company's manager to every route: none reads or changes another company, or gives anything",
  profiles: "an owner who is confined to files, targets or one program tries to do more, in hundreds of ways",
  closings: "what an owner prepared, a closing and a failure, drawn at random, and a login tried after each answer",
  attack:
    "sqlmap, wapiti, testssl, requests with two readings through nginx and HAProxy, formulas in a spreadsheet, requests of anything",
  "sudo-rules": "10,000 changed commands that sudo is asked about, and those whose arguments are cut elsewhere, run",
  "fleet-kills": "agents, replicas and the primary killed at random, and older backups restored, under load",
  history:
    "clients, agents and a nemesis on the real service, and every login, in one file, which a checker of its own judges",
  crash: "service, database, agent and pairs of them killed at every step of every change, and at random under load",
  failover: "three nodes of PostgreSQL under Patroni, whose leaders are killed and cut off under load",
  mutations:
    "small faults in src, drawn at random, each tried by the tests that name its file: what survives is printed",
  faults: "the database, disks, processes, the clock, receivers and callers fail, one after the other",
};

const USAGE = `Usage: bun run test:long [NAME [OPTION...]]

Without a NAME all of these, one after the other:
${Object.entries(SUITES)
  .map(([name, about]) => `  ${name.padEnd(11)}  ${about}`)
  .join("\n")}`;

process.exitCode = await main(process.argv.slice(2));

async function main([name, ...options]: readonly string[]): Promise<number> {
  if (name === "--help" || name === "-h") {
    console.log(USAGE);
    return 0;
  }
  if (name !== undefined && !Object.hasOwn(SUITES, name)) {
    console.error(`There is no ${JSON.stringify(name)}.\n\n${USAGE}`);
    return 2;
  }
  const outcomes: string[] = [];
  let failed = false;
  for (const each of name === undefined ? Object.keys(SUITES) : [name]) {
    console.log(`== ${each}`);
    const begin = performance.now();
    const status = await suite(each, options);
    failed ||= status !== 0;
    const minutes = ((performance.now() - begin) / 60_000).toFixed(1);
    outcomes.push(`${each}: ${status === 0 ? "well" : "FAILED"} (${minutes} min)`);
  }
  console.log(`\n${outcomes.join("\n")}`);
  return failed ? 1 : 0;
}

/** In a process of its own: what one leaves behind does not reach the next. */
async function suite(name: string, options: readonly string[]): Promise<number> {
  const run = join(import.meta.dir, name, "run.ts");
  return await Bun.spawn([process.execPath, run, ...options], { stdio: ["inherit", "inherit", "inherit"] }).exited;
}
