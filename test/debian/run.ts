/**
 * `bun test/debian/run.ts [--suite NAME]`: the built program on a whole Debian, booted with systemd: everything on the release that it
 * is made for, and the essentials on the others (`essentials.ts`). Exit code 1 if anything is wrong or a
 * program is missing; 0, and a prominent warning, if this machine cannot boot a container, or has no tree to
 * boot and gets no answer from Debian's archive.
 */

import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { VERSION } from "../../src/shared/version.ts";
import { CannotBoot, requireMachine } from "./cannot-boot.ts";
import { boot, type Container } from "./container.ts";
import { directMode } from "./direct.ts";
import { directEssentials, sudoEssentials } from "./essentials.ts";
import { outlivesLease, twoHosts } from "./fleet.ts";
import { upgradedPackage } from "./package.ts";
import { afterBoot, fetchRelease, upgradesRelease } from "./release-upgrade.ts";
import { makeRepositories, putRepositories } from "./repository.ts";
import { must } from "./shell.ts";
import { at, say, step } from "./steps.ts";
import { sudoMode } from "./sudo.ts";
import { runToEnd } from "./to-end.ts";
import { copyTree, placeOfThisRun, RELEASE, removeCopies, requireTree, SUITES, type Suite, UPGRADED } from "./tree.ts";
import type { Packages } from "./upgrade.ts";

const PROJECT = join(import.meta.dir, "../..");
const BINARY = join(PROJECT, "dist/uam");
const UPGRADE_VERSION = "999.0.0";
const FIRST = "first.deb";
const UPGRADE = "upgrade.deb";
const PACKAGES = placeOfThisRun("packages");
/** For everything, most of which is waiting for cron and for an expiry; each command also has its own limit. */
const LIMIT = 25 * 60_000;
/** Some 200 packages are fetched and set up. */
const UPGRADE_LIMIT = 60 * 60_000;

const MODES = ["direct", "sudo"] as const;

const suite = suiteIn(process.argv.slice(2));
const running = new Set<Container>();
/** A machine that booted one container can boot the other: if it does not, that is a fault. */
let hasBooted = false;

async function main(): Promise<"tested" | "not tested"> {
  try {
    await testHost();
    return "tested";
  } catch (error) {
    if (!(error instanceof CannotBoot) || hasBooted) throw error;
    warn(error.message);
    return "not tested";
  }
}

async function testHost(): Promise<void> {
  requireMachine();
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: run "bun run build" first`);
  removeCopies();
  const release = suite === UPGRADED.name ? UPGRADED.from : suite;
  const tree = await step(`a tree of Debian ${release}`, () => requireTree(release));
  await step("the package, and a later version of it", makePackages);
  if (suite === UPGRADED.name) return await upgradeRelease(tree);
  // Most of it is waiting, for cron and for the end of a lease above all: they go on side by side.
  const direct = inContainer(tree, "direct", async (container, shared) => {
    copyFileSync(BINARY, join(shared, "uam"));
    await (suite === RELEASE ? directMode : directEssentials)(container, "/opt/uam/uam", packagesIn(shared));
  });
  const sudo = inContainer(tree, "sudo", async (container, shared) => {
    putRepositories(PACKAGES, shared);
    await (suite === RELEASE ? sudoMode : sudoEssentials)(container, packagesIn(shared));
  });
  const agents = suite === RELEASE ? MODES : [];
  await Promise.all([direct, sudo, ...agents.map((mode) => testAgent(tree, mode))]);
}

/** Throws for a suite that there is no tree of. */
function suiteIn([option, name, ...rest]: readonly string[]): Suite | typeof UPGRADED.name {
  if (option === undefined) return RELEASE;
  const all = [...SUITES, UPGRADED.name];
  const found = all.find((known) => known === name);
  if (option !== "--suite" || found === undefined || rest.length > 0)
    throw new Error(`Usage: bun test/debian/run.ts [--suite ${all.join("|")}]`);
  return found;
}

/** One release, which becomes the next under a running installation in each mode, and is booted again. */
async function upgradeRelease(tree: string): Promise<void> {
  const fetched = await step("a copy of the tree", () => copyTree(tree, "fetched"));
  await step(`the packages of Debian ${UPGRADED.to}`, () => fetchRelease(fetched, UPGRADED.to));
  const upgrade = (mode: (typeof MODES)[number]) =>
    at(mode, async () => {
      const directory = await step("a copy of it", () => copyTree(fetched, mode));
      const closed = await booted(directory, `uam-test-${mode}`, (container, shared) =>
        upgradesRelease(container, { mode, package: packagesIn(shared).first, version: UPGRADED.version }),
      );
      await booted(directory, `uam-test-new-${mode}`, (container) => afterBoot(container, closed));
    });
  await Promise.all(MODES.map(upgrade));
}

/** A service with a further host, whose agent works in this mode; and the same once more, for what takes minutes there. */
async function testAgent(tree: string, mode: (typeof MODES)[number]): Promise<void> {
  const pair = (part: string, test: typeof twoHosts) =>
    inContainer(tree, `s${part}-${mode}`, async (service, shared) => {
      const { first } = packagesIn(shared);
      await inContainer(tree, `a${part}-${mode}`, async (web7, shared) => {
        packagesIn(shared);
        await test({ service, web7 }, { mode, first });
      });
    });
  await Promise.all([pair("", twoHosts), pair("2", outlivesLease)]);
}

/** Makes the package and a later version of it, once for both containers. */
async function makePackages(): Promise<void> {
  rmSync(PACKAGES, { recursive: true, force: true });
  mkdirSync(PACKAGES);
  const first = join(PACKAGES, FIRST);
  await must([process.execPath, join(PROJECT, "src/build/deb.ts"), "--uncompressed", first], 120);
  const upgrade = join(PACKAGES, UPGRADE);
  await upgradedPackage(first, upgrade, UPGRADE_VERSION);
  const packages = [
    { path: first, version: VERSION },
    { path: upgrade, version: UPGRADE_VERSION },
  ];
  await makeRepositories(PACKAGES, packages);
}

function packagesIn(shared: string): Packages {
  for (const name of [FIRST, UPGRADE]) copyFileSync(join(PACKAGES, name), join(shared, name));
  return { first: `/opt/uam/${FIRST}`, upgrade: `/opt/uam/${UPGRADE}`, upgradeVersion: UPGRADE_VERSION };
}

/** Boots a fresh copy of the tree for the work; `shared` is the container's /opt/uam. */
function inContainer(
  tree: string,
  name: string,
  work: (container: Container, shared: string) => Promise<void>,
): Promise<void> {
  return at(name, async () => {
    const directory = await step("a copy of the tree", () => copyTree(tree, name));
    await booted(directory, `uam-test-${name}`, work);
  });
}

/** Boots the directory for the work, and ends all in it afterwards. */
async function booted<Result>(
  directory: string,
  name: string,
  work: (container: Container, shared: string) => Promise<Result>,
): Promise<Result> {
  const container = await step("it boots", () => boot(directory, name, suite !== RELEASE));
  hasBooted = true;
  running.add(container);
  const shared = join(directory, "opt/uam");
  mkdirSync(shared, { recursive: true });
  try {
    return await work(container, shared);
  } catch (error) {
    const journal = await container.attempt(
      "journalctl --no-pager --lines=60 --unit=uam --unit=uam-agent --unit=uam-agent-lease --unit=ssh --unit=cron --unit=atd",
    );
    say(`what the container's journal says:\n${journal.stdout}`);
    throw error;
  } finally {
    await container.stop();
    running.delete(container);
  }
}

async function cleanUp(): Promise<void> {
  await Promise.all([...running].map((container) => container.stop()));
  removeCopies();
}

function warn(reason: string): void {
  const line = "!".repeat(100);
  console.error(`\n${line}\n!! NOT TESTED on a real host.\n!! ${reason}\n${line}\n`);
}

await runToEnd({ name: "The real host", main, cleanUp, limit: suite === UPGRADED.name ? UPGRADE_LIMIT : LIMIT });
