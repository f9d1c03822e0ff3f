/** The steps of installing and uninstalling, as data: printed by --dry-run, carried out by apply.ts. */

import { octal } from "../shared/text/octal.ts";
/** One step; carried out in order, and each is safe to repeat. */
export type Step = CopyProgram | PlaceFile | MakeDirectory | EmptyDirectory | RunCommand | RemoveFile;

export interface Ownership {
  readonly mode: number;
  /** Names, looked up when the step is carried out: an earlier step may create them. */
  readonly owner: string;
  readonly group: string;
}

/** Puts a copy of the running program at `path`. */
export interface CopyProgram extends Ownership {
  readonly kind: "copy";
  readonly source: string;
  readonly path: string;
}

/** Puts a text at `path`, by a rename; the old file is restored if the check fails. */
export interface PlaceFile extends Ownership {
  readonly kind: "file";
  readonly path: string;
  readonly content: string;
  /** Leave an existing file as it is: it is the administrator's. */
  readonly keep: boolean;
  readonly check?: Check;
}

/** A check of a file's text: before it is placed (the command gets the path of a draft), or of the host with it in place. */
export type Check =
  | { readonly kind: "draft"; readonly argv: readonly string[] }
  | { readonly kind: "placed"; readonly argv: readonly string[]; readonly expect?: readonly Expectation[] };

/** A setting that sshd, asked with the file in place, must say, and what to do if it does not. */
export interface Expectation {
  /** As in sshd_config(5). */
  readonly setting: string;
  readonly value: string;
  readonly remedy: string;
}

export interface MakeDirectory extends Ownership {
  readonly kind: "directory";
  readonly path: string;
}

/** Removes what is in a directory that only root can write. */
export interface EmptyDirectory {
  readonly kind: "empty";
  readonly path: string;
}

/** Runs an argv array; `when` says when to run it. A failure ends the installation unless it `mayFail`. */
export interface RunCommand {
  readonly kind: "command";
  readonly argv: readonly string[];
  readonly when: "always" | "changed";
  readonly mayFail: boolean;
  /** Undoes the step. */
  readonly undo?: readonly string[];
}

export interface RemoveFile {
  readonly kind: "remove";
  readonly path: string;
}

export const ROOT_FILE = { mode: 0o644, owner: "root", group: "root" } as const;

export function command(argv: readonly string[], options: Partial<Omit<RunCommand, "kind" | "argv">> = {}): RunCommand {
  return { kind: "command", argv, when: "always", mayFail: false, ...options };
}

export function remove(path: string | undefined): readonly RemoveFile[] {
  return path === undefined ? [] : [{ kind: "remove", path }];
}

/** The plan for a person: every command, and every file with its whole text. */
export function describePlan(steps: readonly Step[]): string {
  return `${steps.map(describeStep).join("\n")}\n`;
}

function describeStep(step: Step): string {
  switch (step.kind) {
    case "copy":
      return `copy       ${step.source} -> ${step.path} (${ownership(step)})`;
    case "directory":
      return `directory  ${step.path} (${ownership(step)})`;
    case "empty":
      return `empty      ${step.path}`;
    case "remove":
      return `remove     ${step.path}`;
    case "command":
      return `run        ${step.argv.join(" ")}${step.when === "changed" ? " (if anything changed)" : ""}`;
    case "file": {
      const notes = [ownership(step), ...(step.keep ? ["an existing one is kept"] : []), ...checkNote(step.check)];
      const text = step.content.replace(/\n$/, "").replace(/^/gm, "    | ");
      return `file       ${step.path} (${notes.join(", ")})\n${text}`;
    }
  }
}

function checkNote(check: Check | undefined): readonly string[] {
  if (check === undefined) return [];
  const taken = check.kind === "draft" ? "placed only if it passes" : "taken back unless it passes";
  return [`${taken}: ${check.argv.join(" ")}`];
}

function ownership({ mode, owner, group }: Ownership): string {
  return `${owner}:${group} ${octal(mode)}`;
}
