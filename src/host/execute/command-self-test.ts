/** Whether this host's programs for files do what sudo mode asks of them: tried with the very commands, in a directory of its own. */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findCommand } from "../command.ts";
import { keyFileOf } from "../key-file/key-path.ts";
import { ownUid } from "../safe-open.ts";
import {
  closeDirectoryCommand,
  deleteTrashCommand,
  installCommand,
  listTrashCommand,
  makeDirectoryCommand,
  makeTrashCommand,
  moveHomeCommand,
  openHomeCommand,
  readCommand,
  removeFileCommand,
  removeOwnedCommand,
  type SudoCommand,
  trashPath,
  viewCommand,
} from "./sudo-commands.ts";
import { parseViews, withInput } from "./sudo-key-file.ts";

const REMEDY =
  "install GNU coreutils and findutils in their place, or use direct mode, which needs none of these programs";
const TEXT = "the text of a key file\n";
const MARK = "feedfacefeedface";

/** The first that a program gets wrong; `untried` says why they could not be tried, which tells nothing. */
export interface SelfTest {
  readonly fault?: ProgramFault;
  readonly untried?: string;
}

export interface ProgramFault {
  readonly finding: string;
  readonly remedy: string;
}

/**
 * Runs each command that sudo mode has for files and directories as this process's own user, in a new directory below `base`, and
 * looks at what it did. `locate` says which program a path stands for.
 */
export async function testFileCommands({
  base = tmpdir(),
  locate = findCommand,
}: {
  readonly base?: string;
  readonly locate?: (path: string) => string | undefined;
} = {}): Promise<SelfTest> {
  let directory: string | undefined;
  try {
    directory = mkdtempSync(join(base, "uam-self-test-"));
    // On a full disk every program would fail.
    writeFileSync(join(directory, "room"), TEXT.repeat(1000));
    for (const trial of trialsIn(directory)) {
      const fault = await tried(trial, locate);
      // The next ones need what this one should have done.
      if (fault !== undefined) return { fault };
    }
    return {};
  } catch (error) {
    return { untried: error instanceof Error ? error.message : String(error) };
  } finally {
    if (directory !== undefined) removeAll(directory);
  }
}

/** A home that a program left closed is closed to this process, too. */
function removeAll(directory: string): void {
  const home = join(directory, "home");
  if (lstatSync(home, { throwIfNoEntry: false })?.isDirectory()) chmodSync(home, 0o700);
  rmSync(directory, { recursive: true, force: true });
}

/** A command, its purpose, and whether it worked. */
interface Trial {
  readonly does: string;
  readonly command: SudoCommand;
  readonly input?: string;
  readonly prepare?: () => void;
  readonly isDone: (output: string) => boolean;
}

function trialsIn(directory: string): readonly Trial[] {
  const home = join(directory, "home");
  const keys = join(home, ".ssh");
  const file = keyFileOf("%h/.ssh/authorized_keys", { name: "uam", uid: ownUid(), gid: ownUid(), home });
  const modeOf = (path: string) => lstatSync(path).mode & 0o7777;
  const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  const isWritten = () =>
    lstatSync(file.path).isFile() && modeOf(file.path) === 0o600 && readFileSync(file.path, "utf8") === TEXT;
  const write = { command: installCommand(file.path), input: TEXT, isDone: isWritten };
  return [
    { does: "make a directory", command: makeDirectoryCommand(home), isDone: () => modeOf(home) === 0o700 },
    {
      ...{ does: "give the owner of a home access to it", command: openHomeCommand(home) },
      prepare: () => {
        mkdirSync(keys);
        chmodSync(keys, 0o2770);
        chmodSync(home, 0);
      },
      isDone: () => modeOf(home) === 0o700,
    },
    { does: "close a directory", command: closeDirectoryCommand(keys), isDone: () => modeOf(keys) === 0o700 },
    { ...write, does: "write a file from its standard input" },
    { ...write, does: "replace a file by its standard input", prepare: () => writeFileSync(file.path, "before") },
    {
      ...{ ...write, does: "replace a link by its standard input" },
      prepare: () => {
        rmSync(file.path, { force: true });
        symlinkSync("../elsewhere", file.path);
      },
      isDone: () => isWritten() && !exists(join(home, "elsewhere")),
    },
    {
      ...{ does: "say what a path is", command: viewCommand(file) },
      isDone: (output) => parseViews(output).get(file.path)?.size === TEXT.length && parseViews(output).has(keys),
    },
    { does: "read a file", command: readCommand(file), isDone: (output) => output === TEXT },
    { does: "remove a file", command: removeFileCommand(file.path), isDone: () => !exists(file.path) },
    {
      ...{ does: "remove an owner's files", command: removeOwnedCommand(keys, ownUid()) },
      prepare: () => writeFileSync(join(keys, "job"), ""),
      isDone: () => !exists(join(keys, "job")) && exists(keys),
    },
    {
      does: "make the trash",
      command: makeTrashCommand(directory),
      isDone: () => modeOf(trashPath(directory)) === 0o700,
    },
    {
      ...{ does: "move a home into the trash", command: moveHomeCommand(directory, "home", MARK) },
      isDone: () => !exists(home) && exists(join(trashPath(directory), `home.${MARK}`, ".ssh")),
    },
    {
      ...{ does: "list the trash", command: listTrashCommand(directory) },
      isDone: (output) => output === `home.${MARK}\n`,
    },
    {
      ...{ does: "delete what is in the trash", command: deleteTrashCommand(directory, `home.${MARK}`) },
      isDone: () => !exists(join(trashPath(directory), `home.${MARK}`)),
    },
  ];
}

async function tried(trial: Trial, locate: (path: string) => string | undefined): Promise<ProgramFault | undefined> {
  const [path = "", ...args] = trial.command.argv;
  const program = locate(path);
  if (program === undefined) return { finding: `This host has no ${path}`, remedy: "install it" };
  trial.prepare?.();
  let said = { stdout: "", stderr: "" };
  await withInput(trial.input ?? "", async (fd) => {
    said = spawnSync(program, args, {
      ...{ encoding: "utf8", timeout: 10_000, cwd: "/", env: { LC_ALL: "C" } },
      stdio: [fd, "pipe", "pipe"],
    });
  });
  if (isTrue(() => trial.isDone(said.stdout ?? ""))) return undefined;
  const why = (said.stderr ?? "").trim().split("\n")[0]?.slice(0, 200) ?? "";
  const words = why === "" ? "" : ` ("${why}")`;
  const finding = `${program} (${versionOf(program)}) does not ${trial.does} as sudo mode needs it${words}`;
  return { finding, remedy: REMEDY };
}

/** False, too, if the file to look at is missing. */
function isTrue(look: () => boolean): boolean {
  try {
    return look();
  } catch {
    return false;
  }
}

/** The first line of what it says of itself, such as "install (uutils coreutils) 0.12.0". */
function versionOf(program: string): string {
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8", timeout: 10_000, cwd: "/" });
  return (stdout ?? "").trim().split("\n")[0]?.slice(0, 100) || "of unknown version";
}
