/** An apt repository of the packages under test, signed with a key of the test's own, as two directories: before and after the upgrade. */

import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { must } from "./shell.ts";

const PROJECT = join(import.meta.dir, "../..");
const KEY = "packager@example.org";
/** Where the container has it. */
const PLACE = "/opt/uam/apt";
export const REPOSITORY_URL = `file://${PLACE}`;
const BEFORE = "apt";
const AFTER = "apt-after";
/** Makes apt see the later version. */
export const PUBLISH_UPGRADE = `rm -r ${PLACE} && mv /opt/uam/${AFTER} ${PLACE} && apt-get update`;

/** Makes both in `directory`, to be found at `url`, of packages for this machine's architecture. */
export async function makeRepositories(
  directory: string,
  packages: readonly { readonly path: string; readonly version: string }[],
  url = REPOSITORY_URL,
): Promise<void> {
  // gpg-agent's socket takes only a short path.
  const home = mkdtempSync("/tmp/uam-gpg-");
  const environment = ["env", `GNUPGHOME=${home}`];
  try {
    const generate = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", KEY];
    await must([...environment, ...generate, "ed25519", "sign", "never"], 60);
    const names = [BEFORE, AFTER];
    for (const [index, { path, version }] of packages.entries()) {
      const place = join(directory, names[index] ?? AFTER);
      if (index > 0) cpSync(join(directory, BEFORE), place, { recursive: true });
      const release = await releaseOf(directory, path, version);
      const program = [process.execPath, join(PROJECT, "src/build/release/release.ts"), "apt", place];
      await must([...environment, ...program, "--key", KEY, "--url", url, "--packages", release], 600);
      rmSync(release, { recursive: true });
    }
  } finally {
    await must([...environment, "gpgconf", "--kill", "all"], 10);
    rmSync(home, { recursive: true, force: true });
  }
}

/** Copies both to where the container has them. */
export function putRepositories(directory: string, shared: string): void {
  for (const name of [BEFORE, AFTER]) cpSync(join(directory, name), join(shared, name), { recursive: true });
}

/** A release of that package and an empty one for the other architecture. */
async function releaseOf(directory: string, path: string, version: string): Promise<string> {
  const release = mkdtempSync(join(directory, "release-"));
  copyFileSync(path, join(release, `uam_${version}_amd64.deb`));
  const tree = join(release, "arm64");
  mkdirSync(join(tree, "DEBIAN"), { recursive: true });
  const fields = { Package: "uam", Version: version, Architecture: "arm64", Section: "admin", Priority: "optional" };
  const lines = Object.entries({ ...fields, Maintainer: `Test <${KEY}>`, Description: "for a test" });
  writeFileSync(join(tree, "DEBIAN/control"), lines.map(([name, value]) => `${name}: ${value}\n`).join(""));
  await must(["dpkg-deb", "--root-owner-group", "--build", tree, join(release, `uam_${version}_arm64.deb`)], 30);
  rmSync(tree, { recursive: true });
  return release;
}
