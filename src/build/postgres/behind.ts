/**
 * `bun src/build/postgres/behind.ts`: whether Debian has a newer PostgreSQL than the one that a release carries. Exit code 0 if not, 1 if it
 * has, and 3 if its source index cannot be read: then nothing was checked.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { archivesWith, CannotFetch, fromFirst, openApt } from "./apt.ts";
import { DEBIAN, SOURCE, SOURCE_SUITE } from "./pinned.ts";

const UNCHECKED = 3;

/** The result, as an exit code and a text. */
export interface Verdict {
  readonly exitCode: number;
  readonly text: string;
}

/** Reads an index of source packages (Debian's Sources); `isNewer` compares versions as dpkg does. What lacks the package counts as a failure. */
export function judgeIndex(
  index: string,
  { name, version }: { readonly name: string; readonly version: string },
  isNewer: (one: string, other: string) => boolean = isNewerForDpkg,
): Verdict {
  const entries = index.split(/\n\n+/).filter((entry) => new RegExp(`^Package: ${name}$`, "m").test(entry));
  const versions = entries.flatMap((entry) => /^Version: (\S+)$/m.exec(entry)?.[1] ?? []);
  if (versions.length === 0) return { exitCode: 1, text: `Debian's index of sources has no ${name} any more.` };
  const newer = versions.filter((each) => isNewer(each, version));
  if (newer.length === 0) return { exitCode: 0, text: `Debian has no newer ${name} than ${version}.` };
  return {
    exitCode: 1,
    text: `Debian has ${name} ${newer.join(", ")}, and src/build/postgres/pinned.ts pins ${version}: docs/decisions/postgresql.md says how to follow.`,
  };
}

function isNewerForDpkg(one: string, other: string): boolean {
  return spawnSync("dpkg", ["--compare-versions", one, "gt", other]).status === 0;
}

async function ask(): Promise<Verdict> {
  const directory = mkdtempSync(join(tmpdir(), "uam-sources-"));
  try {
    const apt = await fromFirst(`Debian's index of sources of ${SOURCE_SUITE}`, archivesWith([DEBIAN]), (archive) =>
      openApt(mkdtempSync(join(directory, "apt-")), archive, [["deb-src", SOURCE_SUITE]]),
    );
    return judgeIndex(await apt.sourcesOf(SOURCE.name), SOURCE);
  } catch (error) {
    if (!(error instanceof CannotFetch)) throw error;
    return { exitCode: UNCHECKED, text: `NOT CHECKED: ${error.message}.` };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const verdict = await ask();
  console.log(verdict.text);
  process.exit(verdict.exitCode);
}
