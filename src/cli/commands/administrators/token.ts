/** uam token: tokens that machines log in with. */

import { object, or } from "@optique/core/constructs";
import { message, text } from "@optique/core/message";
import { map, multiple } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { integer, string } from "@optique/core/valueparser";
import { ADMIN_ROLES, type AdminRole } from "../../../shared/product/statuses.ts";
import { MAX_TOKEN_DAYS } from "../../../shared/product/token-limits.ts";
import { jsonFlag, oneOf, pageOptions } from "../../terminal/arguments.ts";
import { offering, stored } from "../../terminal/completion.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printPage, printRecord, shortTime } from "../../terminal/output.ts";

const create = command(
  "create",
  map(
    object({
      name: argument(string({ metavar: "NAME" }), {
        description: message`What the token is for; records name it as the actor.`,
      }),
      role: option("--role", oneOf(ADMIN_ROLES, "ROLE"), {
        description: message`What it may do: owner, operator, reviewer or auditor; within its owner's role.`,
      }),
      days: option("--days", integer({ min: 1, max: MAX_TOKEN_DAYS, metavar: "DAYS" }), {
        description: message`Days until it ends, at most ${text(String(MAX_TOKEN_DAYS))}.`,
      }),
      networks: multiple(
        option("--network", string({ metavar: "CIDR" }), {
          description: message`From where it may be used, such as 192.0.2.0/24; can be given several times. Without this, from anywhere.`,
        }),
      ),
      owner: option("--owner", stored("NAME", "admins"), {
        description: message`The administrator for whom it acts. It ends with them, and never may do more than they may.`,
      }),
      json: jsonFlag(),
    }),
    (input) => runCreate(input),
  ),
  {
    brief: message`Make a token for a machine.`,
    description: message`Makes a token, which is printed once and stored nowhere, and mails its owner that there is one. A machine sends it with each request: Authorization: Bearer uam_…`,
  },
);

const list = command(
  "list",
  map(object({ ...pageOptions(), json: jsonFlag() }), (input) => runList(input)),
  { brief: message`List the tokens, newest first.` },
);

const revoke = command(
  "revoke",
  map(
    object({
      id: argument(offering(integer({ min: 1, metavar: "ID" }), "tokens"), {
        description: message`The token's id, as uam token list shows it.`,
      }),
      json: jsonFlag(),
    }),
    (input) => runRevoke(input),
  ),
  { brief: message`Revoke a token at once, with the tokens that it made.` },
);

export const tokenCommand = command("token", or(create, list, revoke), { brief: message`Manage tokens for machines.` });

interface CreateInput {
  readonly name: string;
  readonly role: AdminRole;
  readonly days: number;
  readonly networks: readonly string[];
  readonly owner: string;
  readonly json: boolean;
}

function runCreate({ owner, json, ...wanted }: CreateInput): Command {
  return async (environment) => {
    const { createToken } = await import("../../../domain/auth/tokens/tokens.ts");
    const { tokenRecord } = await import("../../../server/records.ts");
    const { entry, token } = await withServices(environment, "store", (context) =>
      createToken(context, { owner }, wanted),
    );
    if (json) printJson(environment, { ...tokenRecord(entry), token });
    else {
      environment.err(
        `The token ${entry.name} of ${owner} has the id ${entry.id}. Here it is, shown only this once:\n`,
      );
      environment.out(`${token}\n`);
    }
    return EXIT.done;
  };
}

type TokenRecord = ReturnType<typeof import("../../../server/records.ts").tokenRecord>;

const COLUMNS: readonly Column<TokenRecord>[] = [
  { header: "ID", value: (token) => token.id },
  { header: "NAME", value: (token) => token.name, narrow: "cut" },
  { header: "OWNER", value: (token) => token.owner },
  { header: "ROLE", value: (token) => token.role },
  { header: "STATUS", value: (token) => token.status },
  { header: "MADE BY", value: (token) => token.made_by ?? "-", narrow: "drop" },
  { header: "BEGINS WITH", value: (token) => token.prefix, narrow: "drop" },
  { header: "NETWORKS", value: (token) => token.networks.join(" ") || "-", narrow: "drop" },
  { header: "ENDS", value: (token) => shortTime(token.expires_at) },
  { header: "LAST USED", value: (token) => (token.last_used_at === null ? "-" : shortTime(token.last_used_at)) },
  { header: "FROM", value: (token) => token.last_used_from || "-", narrow: "drop" },
];

interface ListInput {
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

function runList({ json, ...page }: ListInput): Command {
  return async (environment) => {
    const { pageTokens } = await import("../../../domain/auth/tokens/tokens.ts");
    const { tokenRecord } = await import("../../../server/records.ts");
    const { total, items } = await withServices(environment, "read", (context) => pageTokens(context, undefined, page));
    await printPage(environment, COLUMNS, { ...page, json, total, records: items.map(tokenRecord) });
    return EXIT.done;
  };
}

function runRevoke({ id, json }: { readonly id: number; readonly json: boolean }): Command {
  return async (environment) => {
    const { revokeToken } = await import("../../../domain/auth/tokens/tokens.ts");
    const { tokenRecord } = await import("../../../server/records.ts");
    const revoked = await withServices(environment, "store", (context) => revokeToken(context, undefined, id));
    if (json) printJson(environment, tokenRecord(revoked));
    else printRecord(environment, tokenRecord(revoked));
    return EXIT.done;
  };
}
