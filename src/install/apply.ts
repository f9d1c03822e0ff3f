/** Carrying out a plan, as root. */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { findCommand, runCommand } from "../host/command.ts";
import { askedForSettings, faultIn, parseSshdSettings, valuesOf } from "../host/sshd/sshd-settings.ts";
import { UamError } from "../shared/errors.ts";
import type { CopyProgram, MakeDirectory, Ownership, PlaceFile, RunCommand, Step } from "./plan.ts";

/** The outcome of a step. */
export type Outcome = "changed" | "ran" | "unchanged" | "kept" | "skipped" | "failed";

export interface ApplyOptions {
  /** Called after each step. */
  readonly report: (step: Step, outcome: Outcome) => void;
  /** A prefix of every path, to try a plan in a directory; commands are then not run. "" for the host itself. */
  readonly root: string;
  /** Nothing was installed before, so that a failure leaves nothing behind. */
  readonly isFirst?: boolean;
}

/** Takes back what was carried out; what cannot be taken back stays. */
export type TakeBack = () => Promise<void>;

/**
 * Carries out the steps in order. Files are written atomically; one whose check fails is taken back. Throws `internal`,
 * naming the step, at the first failure; running it again continues from there, or `isFirst` takes everything back.
 */
export async function applyPlan(steps: readonly Step[], options: ApplyOptions): Promise<TakeBack> {
  const done: Done[] = [];
  const takeBack = () => takeBackAll(done, options);
  try {
    for (const step of steps) {
      const changed = done.some(({ outcome }) => outcome === "changed");
      const before = "path" in step ? found(step, `${options.root}${step.path}`) : undefined;
      const outcome = await applyStep(step, options, changed);
      done.push({ step, outcome, before });
      options.report(step, outcome);
    }
  } catch (error) {
    if (options.isFirst === true) await takeBack();
    throw error;
  }
  return takeBack;
}

interface Done {
  readonly step: Step;
  readonly outcome: Outcome;
  /** The file found at the step's path. */
  readonly before: Found | undefined;
}

/** A file's text, where the step replaces texts; else whether anything was there. */
interface Found {
  readonly exists: boolean;
  readonly text?: string;
}

function found(step: Step, path: string): Found {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || step.kind !== "file" || !stat.isFile()) return { exists: stat !== undefined };
  return { exists: true, text: readFileSync(path, "utf8") };
}

/** The newest first, and then once more what told others of it, such as a reload. Never throws. */
async function takeBackAll(done: readonly Done[], { root }: ApplyOptions): Promise<void> {
  for (const { step, outcome, before } of done.toReversed()) {
    try {
      if (step.kind === "command") {
        if (outcome === "ran" && step.undo !== undefined) await runCommand(absolute(step.undo), 180_000);
      } else if (outcome === "changed" && before?.exists === false) {
        const path = `${root}${step.path}`;
        // A directory that something else was put into stays.
        if (step.kind === "directory") rmdirSync(path);
        else rmSync(path, { force: true });
      } else if (outcome === "changed" && step.kind === "file" && before?.text !== undefined) {
        putBack(step, `${root}${step.path}`, before.text);
      }
    } catch {
      // The next one may be possible all the same.
    }
  }
  for (const { step, outcome } of done)
    if (step.kind === "command" && step.when === "changed" && outcome === "ran") await run({ ...step, mayFail: true });
}

async function applyStep(step: Step, { root }: ApplyOptions, changed: boolean): Promise<Outcome> {
  switch (step.kind) {
    case "copy":
      return copyProgram(step, `${root}${step.path}`);
    case "directory":
      return makeDirectory(step, `${root}${step.path}`);
    case "file":
      return await placeFile(step, `${root}${step.path}`, root === "");
    case "empty":
      return emptyDirectory(`${root}${step.path}`);
    case "remove":
      return removeFile(`${root}${step.path}`);
    case "command":
      return root !== "" || (step.when === "changed" && !changed) ? "skipped" : await run(step);
  }
}

function copyProgram(step: CopyProgram, path: string): Outcome {
  if (existsSync(path) && readFileSync(path).equals(readFileSync(step.source))) return own(step, path);
  mkdirSync(dirname(path), { recursive: true });
  const draft = draftBeside(path);
  copyFileSync(step.source, draft);
  settle(step, draft, path);
  return "changed";
}

function makeDirectory(step: MakeDirectory, path: string): Outcome {
  const made = mkdirSync(path, { recursive: true, mode: step.mode });
  if (!lstatSync(path).isDirectory()) throw new UamError("internal", `${path} is not a directory: move it away`);
  return own(step, path) === "changed" || made !== undefined ? "changed" : "unchanged";
}

async function placeFile(step: PlaceFile, path: string, checks: boolean): Promise<Outcome> {
  const before = lstatSync(path, { throwIfNoEntry: false });
  if (before !== undefined && !before.isFile()) throw new UamError("internal", `${path} is not a file: move it away`);
  if (before !== undefined && step.keep) return "kept";
  const old = before === undefined ? undefined : readFileSync(path, "utf8");
  if (old !== step.content) {
    mkdirSync(dirname(path), { recursive: true });
    const draft = draftBeside(path);
    try {
      writeFileSync(draft, step.content, { flag: "wx", mode: 0o600 });
      if (checks && step.check?.kind === "draft") await requirePass(step, [...step.check.argv, draft]);
      settle(step, draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  }
  const owned = own(step, path);
  try {
    if (checks && step.check?.kind === "placed") await requirePass(step, step.check.argv);
  } catch (error) {
    restoreAfterCheck(step, path, old);
    throw error;
  }
  return old === step.content ? owned : "changed";
}

async function requirePass(step: PlaceFile, argv: readonly string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await askedForSettings(absolute(argv));
  if (exitCode !== 0) {
    throw new UamError(
      "internal",
      `${argv[0]} rejects ${step.path}, so it was taken back: ${(stderr || stdout).trim()}`,
    );
  }
  requireExpected(step, stdout);
}

/** Throws `internal` unless sshd's answer has what the step's check expects: with the remedy, or that the answer is not understood. */
export function requireExpected({ path, check }: PlaceFile, answer: string): void {
  const expected = check?.kind === "placed" ? (check.expect ?? []) : [];
  if (expected.length === 0) return;
  const settings = parseSshdSettings(answer);
  const fault = faultIn(settings);
  if (fault !== undefined) throw new UamError("internal", `${fault}, so ${path} was taken back`);
  const missing = expected.find(({ setting, value }) => !valuesOf(settings, setting).includes(value));
  if (missing !== undefined) throw new UamError("internal", missing.remedy);
}

function restoreAfterCheck(step: PlaceFile, path: string, old: string | undefined): void {
  if (old === step.content) return;
  if (old === undefined) {
    rmSync(path);
    return;
  }
  putBack(step, path, old);
}

function putBack(step: PlaceFile, path: string, text: string): void {
  const draft = draftBeside(path);
  writeFileSync(draft, text, { flag: "wx", mode: 0o600 });
  settle(step, draft, path);
}

function removeFile(path: string): Outcome {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return "unchanged";
  rmSync(path);
  return "changed";
}

function emptyDirectory(path: string): Outcome {
  const names = existsSync(path) ? readdirSync(path) : [];
  for (const name of names) rmSync(join(path, name), { recursive: true });
  return names.length === 0 ? "unchanged" : "changed";
}

async function run(step: RunCommand): Promise<Outcome> {
  const { exitCode, stderr } = await runCommand(absolute(step.argv), 180_000);
  if (exitCode === 0) return "ran";
  if (step.mayFail) return "failed";
  throw new UamError("internal", `${step.argv.join(" ")} failed: ${stderr.trim() || `exit code ${exitCode}`}`);
}

// The plan names commands as a person would; runCommand wants a path.
function absolute([name = "", ...args]: readonly string[]): readonly string[] {
  const path = name.startsWith("/") ? name : findCommand(`/usr/bin/${name}`);
  if (path === undefined) throw new UamError("internal", `This host has no ${name}: install it`);
  return [path, ...args];
}

function settle(step: Ownership, draft: string, path: string): void {
  own(step, draft);
  const descriptor = openSync(draft, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(draft, path);
}

/** Sets owner and mode where they differ. */
function own({ owner, group, mode }: Ownership, path: string): Outcome {
  const stat = lstatSync(path);
  const uid = idOf("/etc/passwd", owner);
  const gid = idOf("/etc/group", group);
  const isRight = stat.uid === uid && stat.gid === gid && (stat.mode & 0o7777) === mode;
  if (isRight) return "unchanged";
  chownSync(path, uid, gid);
  chmodSync(path, mode);
  return "changed";
}

function idOf(database: "/etc/passwd" | "/etc/group", name: string): number {
  const line = readFileSync(database, "utf8")
    .split("\n")
    .find((candidate) => candidate.startsWith(`${name}:`));
  if (line === undefined) throw new UamError("internal", `${database} has no ${name}`);
  return Number(line.split(":")[2]);
}

// Not *.conf, and with a dot: neither sshd nor sudo reads it if a crash leaves it behind.
function draftBeside(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.new`);
}
