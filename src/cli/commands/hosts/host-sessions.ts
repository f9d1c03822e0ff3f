/** uam host sessions, end-session, logins, refusals, look, keep-jobs and forget-jobs: views only root has. Run by the service through sudo, as root. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { integer, string } from "@optique/core/valueparser";
import { UamError } from "../../../shared/errors.ts";
import { type CliEnvironment, type Command, EXIT } from "../../terminal/environment.ts";
import { printJson } from "../../terminal/output.ts";

const HIDDEN = {
  brief: message`Look at accounts, SSH sessions and jobs, or end a session; run by the service in sudo mode.`,
  hidden: true,
} as const;

const account = {
  name: argument(string({ metavar: "NAME" })),
  uid: argument(integer({ metavar: "UID", min: 1000 })),
};

const sessions = command(
  "sessions",
  map(object(account), (ref) =>
    asRoot(async (environment) => {
      const { rootSessions } = await import("../../../host/execute/sudo-sessions.ts");
      return await rootSessions(environment.runtime.openKernel()).list(ref);
    }),
  ),
  HIDDEN,
);

const endSession = command(
  "end-session",
  map(object({ ...account, id: argument(string({ metavar: "ID" })) }), ({ id, ...ref }) =>
    asRoot(async (environment) => {
      const { rootSessions } = await import("../../../host/execute/sudo-sessions.ts");
      return await rootSessions(environment.runtime.openKernel()).end(ref, id);
    }),
  ),
  HIDDEN,
);

const logins = command(
  "logins",
  map(object({ place: argument(string({ metavar: "PLACE" })) }), ({ place }) =>
    asRoot(async (environment) => {
      const { rootLogins } = await import("../../../host/execute/sudo-sessions.ts");
      return await rootLogins(environment.runtime.openKernel(), place);
    }),
  ),
  HIDDEN,
);

const refusals = command(
  "refusals",
  map(object(account), (ref) =>
    asRoot(async (environment) => {
      const { rootSessions } = await import("../../../host/execute/sudo-sessions.ts");
      return await rootSessions(environment.runtime.openKernel()).refusals(ref);
    }),
  ),
  HIDDEN,
);

const look = command(
  "look",
  map(
    object({
      markerGroup: argument(string({ metavar: "GROUP" })),
      homeBase: argument(string({ metavar: "DIRECTORY" })),
      authorizedKeysFile: argument(string({ metavar: "FILE" })),
    }),
    (where) =>
      asRoot(async (environment) => {
        const { rootLook } = await import("../../../host/look.ts");
        return await rootLook(where, await environment.readStandardInput());
      }),
  ),
  HIDDEN,
);

const keepJobs = command(
  "keep-jobs",
  map(object(account), (ref) =>
    asRoot(async () => {
      const { rootKeepJobs } = await import("../../../host/execute/sudo-jobs.ts");
      return await rootKeepJobs(ref);
    }),
  ),
  HIDDEN,
);

const forgetJobs = command(
  "forget-jobs",
  map(object({}), () =>
    asRoot(async () => {
      const { rootForgetJobs } = await import("../../../host/execute/sudo-jobs.ts");
      return await rootForgetJobs();
    }),
  ),
  HIDDEN,
);

/** Those; none is for people. */
export const hostSessionCommands = or(sessions, endSession, logins, refusals, look, keepJobs, forgetJobs);

/** Prints what the work finds as JSON. */
function asRoot(work: (environment: CliEnvironment) => Promise<unknown>): Command {
  return async (environment) => {
    if (!environment.isRoot) throw new UamError("invalid", "This needs root");
    printJson(environment, await work(environment));
    return EXIT.done;
  };
}
