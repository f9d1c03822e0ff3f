/** `--lease` and the names of hosts and groups, which several commands share. */

import { message, text } from "@optique/core/message";
import { optional } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { formatDuration } from "../../../shared/time/duration.ts";
import { LONGEST_LEASE, NO_LEASE, SHORTEST_LEASE } from "../../../shared/time/lease.ts";
import { offering } from "../../terminal/completion.ts";

/** The word that takes a lease away again. */
const INHERITED = "inherit";

/** `HOST`: a host by name or by id. */
export function hostArgument() {
  return argument(offering(string({ metavar: "HOST" }), "hosts"), { description: message`The host's name or id.` });
}

/** `GROUP`: a group by name or by id. */
export function groupArgument() {
  return argument(offering(string({ metavar: "GROUP" }), "host groups"), {
    description: message`The group's name or id.`,
  });
}

/** `--group`. */
export function groupOption(description: ReturnType<typeof message>) {
  return optional(option("--group", offering(string({ metavar: "GROUP" }), "host groups"), { description }));
}

/** `--lease`. */
export function leaseOption() {
  const range = `${formatDuration(SHORTEST_LEASE)} to ${formatDuration(LONGEST_LEASE)}`;
  return optional(
    option("--lease", string({ metavar: "DURATION" }), {
      description: message`How long it stays open without the service: ${text(range)}, "${text(NO_LEASE)}" for without end, "${text(INHERITED)}" for none of its own.`,
    }),
  );
}

/** The given value in the form that the operations take. */
export function leaseOf(given: string | undefined): string | null | undefined {
  return given === INHERITED ? null : given;
}

/** A name or an id as the operations take it: digits are an id, because no name is a number. */
export function refOf(given: string): string | number {
  return /^\d{1,9}$/.test(given) ? Number(given) : given;
}
