/** uam access allow, refuse and end: the access of users who have to ask for it. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { jsonFlag, reasonOption, userArgument } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { printJson } from "../../terminal/output.ts";
import { awaitHostsOf, printHosts } from "./hosts-confirmed.ts";
import { printUser } from "./shown-user.ts";

export const allowCommand = command(
  "allow",
  map(object({ user: userArgument(), json: jsonFlag() }), ({ user, json }) => decide(user, { approve: true }, json)),
  {
    brief: message`Allow the access that a user asked for.`,
    description: message`Opens the account at once, for the hours that were asked for, from now on. Fails if no request of theirs waits, outside their hours, and if they are no longer active.`,
  },
);

export const refuseCommand = command(
  "refuse",
  map(
    object({
      user: userArgument(),
      reason: option("--reason", string({ metavar: "TEXT" }), {
        description: message`The reason; it is mailed to them.`,
      }),
      json: jsonFlag(),
    }),
    ({ user, reason, json }) => decide(user, { approve: false, reason }, json),
  ),
  { brief: message`Refuse the access that a user asked for, with a reason.` },
);

export const endCommand = command(
  "end",
  map(object({ user: userArgument(), reason: reasonOption(), json: jsonFlag() }), (input) => runEnd(input)),
  {
    brief: message`End access on request before its time.`,
    description: message`Shuts the account at once, ends its sessions, and withdraws a request that waits. The user can ask again.`,
  },
);

interface Decision {
  readonly approve: boolean;
  readonly reason?: string;
}

/** About the request that waits; prints the user as they then are. */
function decide(reference: string, decision: Decision, json: boolean): Command {
  return async (environment) => {
    const { pendingRequestOf } = await import("../../../domain/approvals/access-requests.ts");
    const { reviewApplication } = await import("../../../domain/approvals/approvals.ts");
    const user = await withServices(environment, "change", async (context) => {
      const { id, username } = await requireUserReferred(context, reference);
      await reviewApplication(context, await pendingRequestOf(context, { id, username }), decision);
      return await requireUserReferred(context, String(id));
    });
    return await printUser(environment, user, json);
  };
}

interface Ending {
  readonly user: string;
  readonly reason: string | undefined;
  readonly json: boolean;
}

function runEnd({ user: reference, reason, json }: Ending): Command {
  return async (environment) => {
    const { endAccess } = await import("../../../domain/requests/end.ts");
    const { hostsRecord, userRecord } = await import("../../../server/records.ts");
    const { record, user, known } = await withServices(environment, "change", async (context) => {
      const { id } = await requireUserReferred(context, reference);
      const ended = await endAccess(context, id, reason);
      return {
        ...{ user: ended, record: userRecord(ended, context.clock.now()) },
        known: await awaitHostsOf(context, id),
      };
    });
    if (json) printJson(environment, { ...record, ...hostsRecord(known) });
    else {
      await printUser(environment, user, false);
      printHosts(environment, known);
    }
    return EXIT.done;
  };
}
