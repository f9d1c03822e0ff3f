/** The arguments and options about a profile, which several commands share. */

import { message, text } from "@optique/core/message";
import { map, multiple, optional } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { ProfileChanges } from "../../domain/profiles/fields.ts";
import { ATTESTATIONS, SECOND_FACTORS } from "../../shared/product/statuses.ts";
import { numberOrNone, oneOf, textOption } from "./arguments.ts";
import { offering } from "./completion.ts";

/** The word for no profile, and for a limit that is lifted. */
const NONE = "none";
const MOST_SESSIONS = 1000;

/** `PROFILE`: by name or by id. */
export function profileArgument() {
  return argument(offering(string({ metavar: "PROFILE" }), "profiles"), {
    description: message`The profile's name or id.`,
  });
}

/** `--profile`, of a user or of a group of hosts; null for the word "none". */
export function profileOption(description: ReturnType<typeof message>) {
  const named = optional(option("--profile", offering(string({ metavar: "PROFILE" }), "profiles"), { description }));
  return map(named, orNone);
}

/** What a profile allows. */
export function allowanceOptions() {
  return {
    directory: textOption("--directory", "PATH", message`Of sftp: the path to which its accounts are confined.`),
    readOnly: optional(
      option("--read-only", oneOf(["yes", "no"], "ANSWER"), {
        description: message`Of sftp: whether files can only be read: yes or no.`,
      }),
    ),
    umask: orNoneOption("--umask", "OCTAL", message`Of sftp: three octal digits; "none" for the host's own.`),
    targets: map(
      multiple(
        option("--target", string({ metavar: "TARGET" }), {
          description: message`Of forward: a host:port to which connections may be opened; may be repeated.`,
        }),
      ),
      (given) => (given.length === 0 ? undefined : given),
    ),
    forwarding: map(
      multiple(
        option("--forwarding", string({ metavar: "TARGET" }), {
          description: message`Of shell: whether connections may be forwarded, yes or no, or a host:port to which alone they may; may be repeated.`,
        }),
      ),
      forwardingOf,
    ),
    command: textOption("--command", "NAME", message`Of command: the name of a program in /etc/uam-commands.`),
    idle: orNoneOption("--idle", "TIME", message`After how long a silent session ends, such as 15m; "none" for never.`),
    maxSessions: numberOrNone(
      "--max-sessions",
      MOST_SESSIONS,
      message`How many sessions a connection may have; "none" for the host's own limit.`,
    ),
    secondFactor: optional(
      option("--second-factor", oneOf(SECOND_FACTORS, "FACTOR"), {
        description: message`"verified" for hardware keys only, with touch and PIN at each login; or "none".`,
      }),
    ),
    attestation: optional(
      option("--attestation", oneOf(ATTESTATIONS, "PROOF"), {
        description: message`"required" for hardware keys only whose make was proven when they were uploaded, with --second-factor verified; or "none".`,
      }),
    ),
    groups: namesOption("--group", "GROUP", message`Of shell: a group of the host, of those that its owner allows`),
    sudo: namesOption("--sudo", "TEMPLATE", message`Of shell: the name of a template in /etc/uam/sudo.d`),
    banner: orNoneOption(
      "--banner",
      "PATH",
      message`A file of root's that sshd shows before a login; "none" for none.`,
    ),
  };
}

type Allowance = {
  readonly [Field in keyof ReturnType<typeof allowanceOptions>]: Field extends "readOnly"
    ? "yes" | "no" | undefined
    : ProfileChanges[Field];
};

/** The given options as the operations take them. */
export function allowanceOf({ readOnly, ...others }: Allowance): ProfileChanges {
  return { ...others, readOnly: readOnly === undefined ? undefined : readOnly === "yes" };
}

function orNoneOption(name: `--${string}`, metavar: Uppercase<string>, description: ReturnType<typeof message>) {
  return map(textOption(name, metavar, description), orNone);
}

function orNone(given: string | undefined): string | null | undefined {
  return given === NONE ? null : given;
}

/** A single answer, or targets; what is neither is left to the operation to refuse. */
function forwardingOf(given: readonly string[]): boolean | readonly string[] | undefined {
  if (given.length === 0) return undefined;
  const [first] = given;
  if (given.length > 1 || (first !== "yes" && first !== "no")) return given;
  return first === "yes";
}

/** An option that may be repeated; undefined if it is not given, none for the word. */
function namesOption(name: `--${string}`, metavar: Uppercase<string>, what: ReturnType<typeof message>) {
  const description = message`${what}; may be repeated. "${text(NONE)}" for none.`;
  return map(multiple(option(name, string({ metavar: metavar as "TEXT" }), { description })), (given) => {
    if (given.length === 0) return undefined;
    return given.every((entry) => entry === NONE) ? [] : given;
  });
}
