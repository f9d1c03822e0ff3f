/**
 * `bun run test:long apt [PART...]`: packages from an apt repository on booted Debians. `12` and `13`: docs/install.md letter by letter, from
 * nothing to a login by ssh, with the seconds of each command. An older version: installed and filled, upgraded to the program in dist,
 * and brought back by the document's commands.
 */

import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { VERSION } from "../../../src/shared/version.ts";
import { CannotBoot, requireMachine } from "../../debian/cannot-boot.ts";
import { boot, type Container } from "../../debian/container.ts";
import { upgradedPackage } from "../../debian/package.ts";
import { makeRepositories, putRepositories } from "../../debian/repository.ts";
import { must } from "../../debian/shell.ts";
import { at, say, step } from "../../debian/steps.ts";
import { runToEnd } from "../../debian/to-end.ts";
import { copyTree, placeOfThisRun, removeCopies, requireTree, type Suite } from "../../debian/tree.ts";
import { OLD_VERSIONS, type OldVersion, packageOld } from "../upgrade/versions.ts";
import { firstLogin } from "./first-login.ts";
import { NEWER, upgradesAndGoesBack } from "./there-and-back.ts";

const PROJECT = join(import.meta.dir, "../../..");
const DEBIANS: Readonly<Record<string, Suite>> = { "12": "bookworm", "13": "trixie" };
const PARTS = [...Object.keys(DEBIANS), ...OLD_VERSIONS];
const place = placeOfThisRun("apt");
let running: Container | undefined;

async function main(): Promise<"tested" | "not tested"> {
  const asked = process.argv.slice(2);
  const unknown = asked.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`There is no part "${unknown}": ${PARTS.join(", ")}`);
  try {
    requireMachine();
    if (!existsSync(join(PROJECT, "dist/uam"))) throw new Error('dist/uam is missing: run "bun run build" first');
    removeCopies();
    mkdirSync(place);
    const first = join(place, "uam.deb");
    await must([process.execPath, join(PROJECT, "src/build/deb.ts"), "--uncompressed", first], 600);
    await upgradedPackage(first, join(place, "newer.deb"), NEWER);
    for (const part of asked.length > 0 ? asked : PARTS) await at(part, () => test(part, first));
    return "tested";
  } catch (error) {
    if (!(error instanceof CannotBoot)) throw error;
    console.error(`NOT TESTED: ${error.message}`);
    return "not tested";
  }
}

async function test(part: string, first: string): Promise<void> {
  const repositories = join(place, part);
  mkdirSync(repositories);
  const suite = DEBIANS[part];
  if (suite !== undefined) {
    await makeRepositories(repositories, [
      { path: first, version: VERSION },
      { path: join(place, "newer.deb"), version: NEWER },
    ]);
    return await booted(suite, async (container, shared) => {
      putRepositories(repositories, shared);
      await firstLogin(container);
    });
  }
  const version = part as OldVersion;
  const old = await step(`the package of ${version}, by its own commit`, async () => packageOld(version, say));
  await makeRepositories(repositories, [
    { path: old, version },
    { path: join(place, "newer.deb"), version: NEWER },
  ]);
  await booted("bookworm", async (container, shared) => {
    putRepositories(repositories, shared);
    copyFileSync(old, join(shared, "old.deb"));
    await upgradesAndGoesBack(container, version);
  });
}

/** A copy of the release's tree, booted for the work; `shared` is the container's /opt/uam. */
async function booted(suite: Suite, work: (container: Container, shared: string) => Promise<void>): Promise<void> {
  const tree = await step(`a tree of Debian ${suite}`, () => requireTree(suite));
  const directory = await copyTree(tree, `apt-${suite}`);
  const container = await step("it boots", () => boot(directory, `uam-apt-${suite}`, suite !== "bookworm"));
  running = container;
  try {
    const shared = join(directory, "opt/uam");
    mkdirSync(shared, { recursive: true });
    await work(container, shared);
  } catch (error) {
    const journal = await container.attempt("journalctl --no-pager --lines=60 --unit=uam --unit=ssh");
    say(`what the container's journal says:\n${journal.stdout}`);
    throw error;
  } finally {
    await container.stop();
    running = undefined;
    rmSync(directory, { recursive: true, force: true });
  }
}

async function cleanUp(): Promise<void> {
  await running?.stop();
  removeCopies();
}

await runToEnd({ name: "The packages by apt", main, cleanUp });
