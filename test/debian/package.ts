/** The Debian package under another version. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { must } from "./shell.ts";

/** Makes `output` of the package at `path`, the same but for its version. */
export async function upgradedPackage(path: string, output: string, version: string): Promise<void> {
  const tree = mkdtempSync(join(dirname(output), "package-"));
  try {
    await must(["dpkg-deb", "--raw-extract", path, tree], 60);
    const control = join(tree, "DEBIAN/control");
    writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, `Version: ${version}`));
    await must(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, output], 60);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}
