/** uam admin: administrators. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, withDefault } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Context } from "../../../domain/operation/context.ts";
import { ADMIN_ROLES, type AdminRole } from "../../../shared/product/statuses.ts";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag, oneOf } from "../../terminal/arguments.ts";
import { stored } from "../../terminal/completion.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printTable, shortTime } from "../../terminal/output.ts";
import { readmitCommand, removedCommand } from "./admin-removed.ts";

const name = argument(string({ metavar: "NAME" }), { description: message`The administrator's name.` });

const known = argument(stored("NAME", "admins"), { description: message`The administrator's name.` });

const passwordStdin = option("--password-stdin", {
  description: message`Read the password from standard input. Without this, one is generated and printed once.`,
});

const add = command(
  "add",
  map(
    object({
      name,
      email: option("--email", string({ metavar: "ADDRESS" }), {
        description: message`Where password reset links are mailed.`,
      }),
      role: withDefault(
        option("--role", oneOf(ADMIN_ROLES, "ROLE"), {
          description: message`What they may do: owner, operator, reviewer or auditor; an owner by default.`,
        }),
        "owner" as const,
      ),
      passwordStdin,
    }),
    (input) => runAdd(input),
  ),
  {
    brief: message`Add an administrator.`,
    description: message`Adds an administrator. Without --password-stdin, a password is generated and printed once.`,
  },
);

const list = command(
  "list",
  map(object({ json: jsonFlag() }), (input) => runList(input)),
  {
    brief: message`List the administrators.`,
  },
);

const passwd = command(
  "passwd",
  map(object({ name: known, passwordStdin }), (input) => runPasswd(input)),
  {
    brief: message`Set an administrator's password.`,
    description: message`Sets a new password, removes the administrator's passkeys and authenticator app, ends their sessions, revokes their tokens for machines, cancels any reset link and lifts the lock after wrong passwords. Without --password-stdin, a password is generated and printed once.`,
  },
);

const role = command(
  "role",
  map(
    object({
      name: known,
      role: argument(oneOf(ADMIN_ROLES, "ROLE"), {
        description: message`owner, operator, reviewer or auditor.`,
      }),
    }),
    (input) => runRole(input),
  ),
  {
    brief: message`Set what an administrator may do.`,
    description: message`Sets an administrator's role. It holds from their next request on, in sessions that are open, too. Tokens above it are revoked, and a former owner leaves no token for joining a host and no open invitation. An owner may do everything, an operator manages users, keys and applications, a reviewer decides about applications, and an auditor reads everything and changes nothing.`,
  },
);

const remove = command(
  "remove",
  map(
    object({
      name: known,
      force: option("--force", { description: message`Remove even the last administrator or the last owner.` }),
    }),
    (input) => runRemove(input),
  ),
  {
    brief: message`Remove an administrator and end their sessions.`,
    description: message`Removes an administrator, ends their sessions, revokes their tokens, and voids the tokens for joining hosts and the invitations that they made, unless they are used. Webhooks that they made go on, and are named.`,
  },
);

const endSessions = command(
  "end-sessions",
  map(object({ name: known }), (input) => runEndSessions(input)),
  {
    brief: message`End an administrator's sessions.`,
    description: message`Ends all sessions of an administrator that are open; they log in again. Tokens stay: see uam token revoke.`,
  },
);

export const adminCommand = command(
  "admin",
  or(add, list, passwd, role, endSessions, remove, removedCommand, readmitCommand),
  {
    brief: message`Manage administrators.`,
  },
);

interface PasswordInput {
  readonly name: string;
  readonly passwordStdin: boolean;
}

interface RoleInput {
  readonly name: string;
  readonly role: AdminRole;
}

function runAdd({ name, email, role, passwordStdin }: PasswordInput & RoleInput & { readonly email: string }): Command {
  return (environment) =>
    withPassword(environment, passwordStdin, async (context, password) => {
      const { addAdmin } = await import("../../../domain/auth/administrators/add-admin.ts");
      await addAdmin(context, name, email, password, role);
      return `The administrator ${name} was added${role === "owner" ? "" : ` as ${role}`}.`;
    });
}

function runPasswd({ name, passwordStdin }: PasswordInput): Command {
  return (environment) =>
    withPassword(environment, passwordStdin, async (context, password) => {
      const { setAdminPassword } = await import("../../../domain/auth/administrators/admin-changes.ts");
      const { removed, tokens } = await setAdminPassword(context, name, password);
      const rest = [
        ...(removed.length === 0 ? [] : [` What else they could log in with was removed: ${removed.join(", ")}.`]),
        ...(tokens === 0 ? [] : [` Their tokens for machines were revoked: ${tokens}.`]),
      ].join("");
      return `The administrator ${name} has a new password; all their sessions were ended.${rest}`;
    });
}

/** Reads or generates a password, stores it through `work`, and prints it once if it was generated. */
async function withPassword(
  environment: CliEnvironment,
  fromStandardInput: boolean,
  work: (context: Context, password: string) => Promise<string>,
): Promise<number> {
  const { generatePassword } = await import("../../../domain/auth/administrators/passwords.ts");
  const password = fromStandardInput
    ? (await environment.readStandardInput()).replace(/\r?\n$/, "")
    : generatePassword();
  const done = await withServices(environment, "store", (context) => work(context, password));
  environment.err(`${done}\n`);
  if (!fromStandardInput) {
    environment.err("The password, shown only this once:\n");
    environment.out(`${password}\n`);
  }
  return EXIT.done;
}

function runRole({ name, role }: RoleInput): Command {
  return async (environment) => {
    const { hasOwner, updateAdmin } = await import("../../../domain/auth/administrators/admin-changes.ts");
    const isOwned = await withServices(environment, "store", async (context) => {
      await updateAdmin(context, name, { role, which: "even-the-last" });
      return await hasOwner(context);
    });
    environment.err(`The administrator ${name} has the role ${role} now.\n`);
    if (!isOwned) {
      environment.err(
        `Nobody is an owner any more who can log in: make somebody one with "${environment.invocation} admin role NAME owner".\n`,
      );
    }
    return EXIT.done;
  };
}

interface AdminRecord {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly role: AdminRole;
  readonly status: string;
  readonly passkeys: number;
  readonly totp: boolean;
  readonly created_at: string;
  readonly last_login_at: string | null;
}

const COLUMNS: readonly Column<AdminRecord>[] = [
  { header: "ID", value: (admin) => admin.id },
  { header: "USERNAME", value: (admin) => admin.username },
  { header: "EMAIL", value: (admin) => admin.email, narrow: "cut" },
  { header: "ROLE", value: (admin) => admin.role },
  { header: "STATUS", value: (admin) => admin.status, narrow: "drop" },
  { header: "PASSKEYS", value: (admin) => admin.passkeys, narrow: "drop" },
  { header: "APP", value: (admin) => (admin.totp ? "yes" : ""), narrow: "drop" },
  { header: "CREATED", value: (admin) => shortTime(admin.created_at), narrow: "drop" },
  { header: "LAST LOGIN", value: (admin) => (admin.last_login_at === null ? "" : shortTime(admin.last_login_at)) },
];

function runList({ json }: { readonly json: boolean }): Command {
  return async (environment) => {
    const { listAdmins } = await import("../../../domain/auth/administrators/admin-changes.ts");
    const { adminRecord } = await import("../../../server/admin-records.ts");
    const items = await withServices(environment, "read", async (context) =>
      (await listAdmins(context)).map((admin) => ({
        ...adminRecord(context, admin),
        updated_at: admin.updatedAt.toISOString(),
      })),
    );
    if (json) printJson(environment, { items });
    else await printTable(environment, COLUMNS, items);
    return EXIT.done;
  };
}

function runEndSessions({ name }: { readonly name: string }): Command {
  return async (environment) => {
    const { endAdminSessions } = await import("../../../domain/auth/administrators/admin-changes.ts");
    const ended = await withServices(environment, "store", (context) => endAdminSessions(context, name));
    const sessions = counted(ended, "session");
    environment.err(`${sessions} of the administrator ${name} ${ended === 1 ? "was" : "were"} ended.\n`);
    return EXIT.done;
  };
}

function runRemove({ name, force }: { readonly name: string; readonly force: boolean }): Command {
  return async (environment) => {
    const { removeAdmin } = await import("../../../domain/auth/administrators/admin-changes.ts");
    const { webhooks } = await withServices(environment, "store", (context) =>
      removeAdmin(context, name, force ? "even-the-last" : undefined),
    );
    environment.err(`The administrator ${name} was removed; all their sessions were ended.\n`);
    if (webhooks.length > 0) {
      environment.err(`They made these webhooks, which go on; look whether they should: ${webhooks.join(", ")}\n`);
    }
    return EXIT.done;
  };
}
