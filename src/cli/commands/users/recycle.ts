/** uam recycle: shows who is due to be recycled; with --now, recycles them at once. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import type { Context } from "../../../domain/operation/context.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { type CliEnvironment, type Command, EXIT, stopSignal, withServices } from "../../terminal/environment.ts";
import { printJson } from "../../terminal/output.ts";

interface Input {
  readonly now: boolean;
  readonly json: boolean;
}

export const recycleCommand = command(
  "recycle",
  map(
    object({
      now: option("--now", {
        description: message`Recycle now, even during the wait after a gap in time. Check the clock first.`,
      }),
      json: jsonFlag(),
    }),
    (input) => runRecycle(input),
  ),
  {
    brief: message`Show or recycle the users whose recycle period is over.`,
    description: message`Shows how many expired users are due, and whether the service is waiting: after it was stopped for over an hour, or the clock was set, nothing is recycled or purged, and no review disables anybody, for 24 hours. --now ends the wait and removes everyone who is due, with their account, home directory and keys. Exits 1 if a user could not be removed.`,
  },
);

function runRecycle({ now, json }: Input): Command {
  return async (environment) => {
    const work = now ? recycle : show;
    return await withServices(environment, now ? "change" : "read", (context) => work(context, environment, json));
  };
}

async function recycle(context: Context, environment: CliEnvironment, json: boolean): Promise<number> {
  const { endHold } = await import("../../../domain/lifecycle/heartbeat.ts");
  const { recycleDue } = await import("../../../domain/lifecycle/lifecycle.ts");
  const { workOnReviews } = await import("../../../domain/reviews/due.ts");
  const time = await endHold(context);
  const signal = stopSignal(environment);
  const { done, failed } = await recycleDue(context, time, signal);
  await workOnReviews(context, time, signal);
  if (json) printJson(environment, { recycled: done, failed });
  else environment.err(`Recycled: ${done}. Failed: ${failed}.\n`);
  return failed === 0 ? EXIT.done : EXIT.failed;
}

async function show(context: Context, environment: CliEnvironment, json: boolean): Promise<number> {
  const { readHeartbeat } = await import("../../../domain/lifecycle/heartbeat.ts");
  const { countRecyclable } = await import("../../../domain/lifecycle/lifecycle.ts");
  const time = await readHeartbeat(context);
  const due = await countRecyclable(context, time.now);
  const until = time.holdUntil === undefined ? null : formatTimestamp(time.holdUntil);
  if (json) {
    printJson(environment, { due, hold_until: until });
    return EXIT.done;
  }
  environment.out(`Due to be recycled: ${due}\n`);
  if (until !== null) {
    environment.out(`Nothing is recycled before: ${until}\n`);
    environment.err(
      "The service was stopped, or the clock was set. If the clock is right, uam recycle --now ends the wait.\n",
    );
  }
  return EXIT.done;
}
