/** Describes the state of hosts with agents after access was taken away. */

import type { Confirmation } from "../../../domain/hosts/confirmation.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { counted } from "../../../shared/text/counted.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import type { CliEnvironment } from "../../terminal/environment.ts";

/** Waits for the hosts of the user, as the API does; undefined where none is concerned. */
export async function awaitHostsOf(context: Context, userId: number): Promise<Confirmation | undefined> {
  const { awaitHosts } = await import("../../../domain/hosts/confirmation.ts");
  return await awaitHosts(context, userId);
}

/** Says what they have confirmed, and from when on it is true everywhere. */
export function printHosts(environment: Pick<CliEnvironment, "err">, known: Confirmation | undefined): void {
  if (known !== undefined) environment.err(`${hostsSentence(known)}\n`);
}

/** The same as a sentence. */
export function hostsSentence({ total, confirmed, pending, effectiveBy }: Confirmation): string {
  if (confirmed === total) return `${counted(total, "further host")} confirmed it.`;
  const names = pending.slice(0, 10).join(", ");
  const more = total - confirmed > 10 ? " and others" : "";
  const until =
    effectiveBy === null
      ? "One of them has no lease, so nothing is certain until it answers."
      : `It is true everywhere from ${formatTimestamp(effectiveBy)} on, whatever becomes of them.`;
  return `${confirmed} of ${counted(total, "further host")} confirmed it; not yet: ${names}${more}. ${until}`;
}
