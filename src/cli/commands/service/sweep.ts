/** uam sweep: kills every process of one account. Run by the service through sudo, as root. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { integer } from "@optique/core/valueparser";
import { UamError } from "../../../shared/errors.ts";
import { type Command, EXIT } from "../../terminal/environment.ts";

export const sweepCommand = command(
  "sweep",
  map(object({ uid: argument(integer({ metavar: "UID", min: 1000 })) }), ({ uid }) => runSweep(uid)),
  { brief: message`Kill every process of a uid; run by the service in sudo mode.`, hidden: true },
);

function runSweep(uid: number): Command {
  return async ({ isRoot, runtime }) => {
    if (!isRoot) throw new UamError("invalid", "This needs root");
    return runtime.openKernel().killAllOf(uid) ? EXIT.done : EXIT.failed;
  };
}
