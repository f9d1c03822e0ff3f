/** uam user sessions and uam user end-session: SSH logins, listed and ended. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag, userArgument } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { type Column, printJson, printTable, shortTime } from "../../terminal/output.ts";
import { jobsCommand } from "./jobs.ts";
import { userHostsCommand } from "./user-hosts.ts";
import { whyCommand } from "./user-why.ts";

const sessionsCommand = command(
  "sessions",
  map(object({ user: userArgument(), json: jsonFlag() }), (input) => runList(input)),
  {
    brief: message`List a user's open SSH logins, oldest first.`,
    description: message`Lists a user's open SSH logins: since when, from where, and with which key where sshd's own log proves it.`,
  },
);

const endSessionCommand = command(
  "end-session",
  map(
    object({
      user: userArgument(),
      session: argument(string({ metavar: "SESSION" }), {
        description: message`The session's id, as uam user sessions shows it.`,
      }),
      json: jsonFlag(),
    }),
    (input) => runEnd(input),
  ),
  {
    brief: message`End one of a user's SSH logins.`,
    description: message`Ends the connection and what runs in it, and no other. The user can log in again: to prevent that, revoke the key or disable the user.`,
  },
);

const signOutCommand = command(
  "sign-out",
  map(object({ user: userArgument(), json: jsonFlag() }), (input) => runSignOut(input)),
  {
    brief: message`End a user's sessions with the service.`,
    description: message`Ends all sessions of a user with the service, in browsers, and voids a code that was sent. SSH logins go on. The user can log in again: to prevent that, disable the user.`,
  },
);

/** Commands about a user's access beyond the account itself. */
export const accessCommands = or(
  whyCommand,
  sessionsCommand,
  endSessionCommand,
  signOutCommand,
  userHostsCommand,
  jobsCommand,
);

type SessionRecord = ReturnType<typeof import("../../../server/records.ts").sessionRecord>;

const COLUMNS: readonly Column<SessionRecord>[] = [
  { header: "ID", value: (session) => session.id },
  { header: "SINCE", value: (session) => shortTime(session.since) },
  { header: "FROM", value: (session) => session.from || "-" },
  { header: "KEY", value: (session) => session.key?.name ?? "-", narrow: "cut" },
  { header: "FINGERPRINT", value: (session) => session.key?.fingerprint ?? "-", narrow: "drop" },
];

function runList({ user, json }: { readonly user: string; readonly json: boolean }): Command {
  return async (environment) => {
    const { listSshSessions } = await import("../../../domain/users/ssh-sessions.ts");
    const { sessionRecord } = await import("../../../server/records.ts");
    const sessions = await withServices(environment, "read", async (context) =>
      listSshSessions(context, (await requireUserReferred(context, user)).id),
    );
    const items = sessions.map(sessionRecord);
    if (json) printJson(environment, { items });
    else await printTable(environment, COLUMNS, items);
    return EXIT.done;
  };
}

function runSignOut({ user, json }: { readonly user: string; readonly json: boolean }): Command {
  return async (environment) => {
    const { endWebSessions } = await import("../../../domain/users/web-sessions.ts");
    const { name, sessions } = await withServices(environment, "store", async (context) => {
      const { id, username } = await requireUserReferred(context, user);
      return { name: username, sessions: await endWebSessions(context, id) };
    });
    if (json) printJson(environment, { status: "ended", sessions });
    else environment.err(`${counted(sessions, "session")} of ${name} ${sessions === 1 ? "was" : "were"} ended.\n`);
    return EXIT.done;
  };
}

interface EndInput {
  readonly user: string;
  readonly session: string;
  readonly json: boolean;
}

function runEnd({ user, session, json }: EndInput): Command {
  return async (environment) => {
    const { endSshSession } = await import("../../../domain/users/ssh-sessions.ts");
    const name = await withServices(environment, "change", async (context) => {
      const { id, username } = await requireUserReferred(context, user);
      await endSshSession(context, id, session);
      return username;
    });
    if (json) printJson(environment, { status: "ended" });
    else environment.err(`Ended the session ${session} of ${name}.\n`);
    return EXIT.done;
  };
}
