/**
 * `bun run test:long release`: `bun run release` of HEAD in a clean clone, with a key of the test's own; the commands of docs/verify.md
 * accept it, its packages hold what those in dist do, if they are of the same commit, and its image does what the Containerfile's does.
 */

import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PROJECT } from "../../../src/build/packages.ts";
import { VERSION } from "../../../src/shared/version.ts";
import { endChildren, must, run } from "../../debian/shell.ts";
import { at, same, step } from "../../debian/steps.ts";
import { runToEnd } from "../../debian/to-end.ts";
import { shellBlocks } from "../../support/documents.ts";

/** Seconds: two builds, two packages and an image. */
const PATIENCE = 15 * 60;
const directory = mkdtempSync(join(tmpdir(), "uam-whole-release-"));

async function main(): Promise<"tested"> {
  const clone = join(directory, "clone");
  const key = join(directory, "uam.key");
  const program = [process.execPath, "run", "release", "--version", VERSION, "--key", key];
  const release = ["env", `--chdir=${clone}`, ...program];
  await must(["git", "clone", "--quiet", PROJECT, clone], 60);
  await must(["minisign", "-G", "-W", "-p", join(directory, "uam.pub"), "-s", key], 10);
  await step("a checkout with changes is refused", async () => {
    await must(["touch", join(clone, "left-over")], 5);
    const { status, stderr } = await run(release, 60);
    same(`${status} ${stderr.includes("?? left-over")}`, "1 true", `the refusal (${stderr})`);
    rmSync(join(clone, "left-over"));
  });
  const made = join(clone, "dist/release");
  await step("bun run release", () => must(release, PATIENCE));
  copyFileSync(join(directory, "uam.pub"), join(made, "uam.pub"));
  await step("the commands of docs/verify.md accept it", async () => {
    const said = await must(["env", `--chdir=${made}`, "sh", "-e", "-c", shellBlocks("docs/verify.md")[0] ?? ""], 60);
    same(String(said.match(/: OK$/gm)?.length), "8", `the files that were checked (${said})`);
  });
  await step("its packages are for their architectures", async () => {
    for (const architecture of ["amd64", "arm64"]) {
      const path = join(made, `uam_${VERSION}_${architecture}.deb`);
      same(await must(["dpkg-deb", "--field", path, "Architecture"], 10), `${architecture}\n`, path);
    }
  });
  await step("its image serves, in both ways, and ends in order", () =>
    must(
      [process.execPath, join(clone, "test/container/run.ts"), "--image", join(made, `uam-${VERSION}.oci.tar`)],
      300,
    ),
  );
  return "tested";
}

async function cleanUp(): Promise<void> {
  await endChildren(directory);
  rmSync(directory, { recursive: true, force: true });
}

await runToEnd({ name: "The whole release", main: () => at("release", main), cleanUp });
