/** uam webhook: where audit records are delivered to. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, multiple, optional } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { integer, string } from "@optique/core/valueparser";
import type { SendMessage } from "../../../domain/events/message.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { UamError } from "../../../shared/errors.ts";
import { AUDIT_ACTIONS, type AuditAction } from "../../../shared/product/audit-actions.ts";
import type { Page } from "../../../shared/product/page.ts";
import { WEBHOOK_STATUSES } from "../../../shared/product/statuses.ts";
import { jsonFlag, oneOf, pageOptions, textOption } from "../../terminal/arguments.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printPage, printRecord, shortTime } from "../../terminal/output.ts";

const ANY = "any";

function idArgument() {
  return argument(integer({ min: 1, metavar: "ID" }), {
    description: message`The webhook's id, as uam webhook list shows it.`,
  });
}

function actionOptions(otherwise: string) {
  return multiple(
    option("--action", oneOf([...AUDIT_ACTIONS, ANY], "ACTION"), {
      description: message`Only this action, such as user.create; can be given several times. ${otherwise}`,
    }),
  );
}

const create = command(
  "create",
  map(
    object({
      url: argument(string({ metavar: "URL" }), {
        description: message`Where it goes: https, at a public address or where UAM_WEBHOOK_NETWORKS allows it.`,
      }),
      actions: actionOptions("Without this, all."),
      json: jsonFlag(),
    }),
    (input) => runCreate(input),
  ),
  {
    brief: message`Make a webhook.`,
    description: message`Makes a webhook, which is told of each audit record from now on, in their order. What its deliveries are signed with is printed once and stored nowhere.`,
  },
);

const list = command(
  "list",
  map(object({ ...pageOptions(), json: jsonFlag() }), (input) => runList(input)),
  { brief: message`List the webhooks, and how they are doing.` },
);

const update = command(
  "update",
  map(
    object({
      id: idArgument(),
      url: textOption("--url", "URL", message`Where it goes from now on.`),
      actions: actionOptions(`"${ANY}" for all.`),
      status: optional(
        option("--status", oneOf(WEBHOOK_STATUSES, "STATUS"), {
          description: message`active or disabled: switched on, it goes on where it had got to.`,
        }),
      ),
      json: jsonFlag(),
    }),
    (input) => runUpdate(input),
  ),
  { brief: message`Change a webhook, or switch it on or off.` },
);

const remove = command(
  "delete",
  map(object({ id: idArgument(), json: jsonFlag() }), (input) => runDelete(input)),
  { brief: message`Delete a webhook, with its log of deliveries.` },
);

const ping = command(
  "ping",
  map(object({ id: idArgument(), json: jsonFlag() }), ({ id, json }) =>
    runDelivery(json, async (context, send) =>
      (await import("../../../domain/events/deliveries.ts")).pingWebhook(context, send, id),
    ),
  ),
  { brief: message`Ask a webhook whether it answers.` },
);

const deliveries = command(
  "deliveries",
  map(object({ id: idArgument(), ...pageOptions(), json: jsonFlag() }), (input) => runDeliveries(input)),
  { brief: message`List the attempts to deliver something to a webhook, newest first.` },
);

const redeliverCommand = command(
  "redeliver",
  map(
    object({
      id: idArgument(),
      delivery: argument(integer({ min: 1, metavar: "DELIVERY" }), {
        description: message`The delivery's id, as uam webhook deliveries shows it.`,
      }),
      json: jsonFlag(),
    }),
    ({ id, delivery, json }) =>
      runDelivery(json, async (context, send) => {
        const { redeliver } = await import("../../../domain/events/deliveries.ts");
        return await redeliver(context, send, { webhookId: id, deliveryId: delivery });
      }),
  ),
  { brief: message`Deliver something once more, at once.` },
);

export const webhookCommand = command("webhook", or(create, list, update, remove, ping, deliveries, redeliverCommand), {
  brief: message`Manage webhooks, which are told of audit records.`,
});

interface CreateInput {
  readonly url: string;
  readonly actions: readonly (AuditAction | typeof ANY)[];
  readonly json: boolean;
}

function runCreate({ url, actions, json }: CreateInput): Command {
  return async (environment) => {
    const { createWebhook } = await import("../../../domain/events/webhooks.ts");
    const { webhookRecord } = await import("../../../server/event-records.ts");
    const wanted = { url, actions: actionsIn(actions) };
    const { entry, secret } = await withServices(environment, "store", (context) => createWebhook(context, wanted));
    if (json) printJson(environment, { ...webhookRecord(entry), secret });
    else {
      environment.err(`The webhook has the id ${entry.id}. It is signed with this, shown only this once:\n`);
      environment.out(`${secret}\n`);
    }
    return EXIT.done;
  };
}

type WebhookRecord = ReturnType<typeof import("../../../server/event-records.ts").webhookRecord>;

function makerOf({ made_by: name, maker_removed: isRemoved }: WebhookRecord): string {
  return name === "" ? "-" : `${name}${isRemoved ? " (removed)" : ""}`;
}

const COLUMNS: readonly Column<WebhookRecord>[] = [
  { header: "ID", value: (webhook) => webhook.id },
  { header: "URL", value: (webhook) => webhook.url, narrow: "cut" },
  { header: "ACTIONS", value: (webhook) => webhook.actions.join(" ") || "all", narrow: "cut" },
  { header: "STATUS", value: (webhook) => webhook.status },
  { header: "MADE BY", value: makerOf },
  { header: "LAG", value: (webhook) => webhook.lag },
  { header: "FAILING SINCE", value: (webhook) => (webhook.failing_since && shortTime(webhook.failing_since)) || "-" },
  { header: "LAST ERROR", value: (webhook) => webhook.last_error || "-", narrow: "drop" },
];

interface ListInput extends Page {
  readonly json: boolean;
}

function runList({ json, ...page }: ListInput): Command {
  return async (environment) => {
    const { pageWebhooks } = await import("../../../domain/events/webhooks.ts");
    const { webhookRecord } = await import("../../../server/event-records.ts");
    const { total, items } = await withServices(environment, "read", (context) => pageWebhooks(context, page));
    await printPage(environment, COLUMNS, { ...page, json, total, records: items.map(webhookRecord) });
    return EXIT.done;
  };
}

interface UpdateInput {
  readonly id: number;
  readonly url: string | undefined;
  readonly actions: readonly (AuditAction | typeof ANY)[];
  readonly status: (typeof WEBHOOK_STATUSES)[number] | undefined;
  readonly json: boolean;
}

function runUpdate({ id, url, actions, status, json }: UpdateInput): Command {
  return async (environment) => {
    if (url === undefined && actions.length === 0 && status === undefined) {
      throw new UamError("invalid", "Say what to change: --url, --action or --status");
    }
    const { updateWebhook } = await import("../../../domain/events/webhooks.ts");
    const { webhookRecord } = await import("../../../server/event-records.ts");
    const changes = { url, status, actions: actions.length === 0 ? undefined : actionsIn(actions) };
    const changed = await withServices(environment, "store", (context) => updateWebhook(context, id, changes));
    if (json) printJson(environment, webhookRecord(changed));
    else printRecord(environment, { ...webhookRecord(changed), actions: changed.actions.join(" ") || "all" });
    return EXIT.done;
  };
}

function runDelete({ id, json }: { readonly id: number; readonly json: boolean }): Command {
  return async (environment) => {
    const { deleteWebhook } = await import("../../../domain/events/webhooks.ts");
    await withServices(environment, "store", (context) => deleteWebhook(context, id));
    if (json) printJson(environment, { status: "deleted" });
    else environment.err(`The webhook ${id} is deleted.\n`);
    return EXIT.done;
  };
}

type DeliveryRow = Awaited<ReturnType<typeof import("../../../domain/events/deliveries.ts").pingWebhook>>;
type DeliveryRecord = ReturnType<typeof import("../../../server/event-records.ts").deliveryRecord>;

const DELIVERY_COLUMNS: readonly Column<DeliveryRecord>[] = [
  { header: "ID", value: (delivery) => delivery.id },
  { header: "TIME", value: (delivery) => shortTime(delivery.at) },
  { header: "TYPE", value: (delivery) => delivery.type },
  { header: "MESSAGE", value: (delivery) => delivery.message_id, narrow: "drop" },
  { header: "ATTEMPT", value: (delivery) => delivery.attempt },
  { header: "STATUS", value: (delivery) => delivery.status },
  { header: "ERROR", value: (delivery) => delivery.error || "-", narrow: "cut" },
];

interface DeliveriesInput extends ListInput {
  readonly id: number;
}

function runDeliveries({ id, json, ...page }: DeliveriesInput): Command {
  return async (environment) => {
    const { pageDeliveries } = await import("../../../domain/events/deliveries.ts");
    const { deliveryRecord } = await import("../../../server/event-records.ts");
    const { total, items } = await withServices(environment, "read", (context) => pageDeliveries(context, id, page));
    await printPage(environment, DELIVERY_COLUMNS, { ...page, json, total, records: items.map(deliveryRecord) });
    return EXIT.done;
  };
}

/** Delivers from here, and fails if it was not taken. */
function runDelivery(json: boolean, deliver: (context: Context, send: SendMessage) => Promise<DeliveryRow>): Command {
  return async (environment: CliEnvironment) => {
    const { createSender } = await import("../../../server/events/sender.ts");
    const { deliveryRecord } = await import("../../../server/event-records.ts");
    const delivery = await withServices(environment, "store", async (context) => {
      const sender = createSender({ networks: context.policy.webhookNetworks, clock: context.clock });
      try {
        return await deliver(context, sender.send);
      } finally {
        sender.close();
      }
    });
    if (json) printJson(environment, deliveryRecord(delivery));
    else printRecord(environment, deliveryRecord(delivery));
    return delivery.error === "" ? EXIT.done : EXIT.failed;
  };
}

function actionsIn(given: readonly (AuditAction | typeof ANY)[]): readonly AuditAction[] {
  return given.includes(ANY) ? [] : given.filter((action) => action !== ANY);
}
