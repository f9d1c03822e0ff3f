/** What programs of several versions said, recorded on Debian 12, 13, 13's backports and forky: test data, each in a file of its version. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const DIRECTORY = join(import.meta.dir, "../testdata");

/** A command that was run with `LC_ALL=C`, and what came of it. */
export interface Recorded {
  readonly argv: string;
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The recordings of `sudo` or `coreutils`: by version, by what was asked. Names that begin with `rs` or `uutils` are of the other kind. */
export function recordingsOf(
  program: "sudo" | "coreutils",
): Readonly<Record<string, Readonly<Record<string, Recorded>>>> {
  const names = readdirSync(join(DIRECTORY, program)).sort();
  const read = (name: string) => JSON.parse(readFileSync(join(DIRECTORY, program, name), "utf8"));
  return Object.fromEntries(names.map((name) => [name.replace(/\.json$/, ""), read(name)]));
}

/** A process of sshd's: whose it was, and its command line as /proc has it. */
export interface RecordedTitle {
  readonly owner: string;
  readonly title: string;
}

/** The processes of sshd of that version while ext_a and somebody called stranger logged in, and others failed to. */
export function recordedTitles(version: string): readonly RecordedTitle[] {
  const lines = readFileSync(join(DIRECTORY, `sshd/titles-${version}.txt`), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => {
    const [owner = "", title = ""] = line.split("\t");
    return { owner, title: title.replaceAll("\\0", "\0") };
  });
}
