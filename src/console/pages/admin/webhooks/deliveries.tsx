/** The last deliveries to a webhook, and once more what was delivered before. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { actionTexts } from "../../../texts/admin/actions.ts";
import { webhooksTexts } from "../../../texts/admin/webhooks.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Failure, Notice } from "../../../ui/notice.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { Loaded, useApi } from "../../../use-api.tsx";
import type { Webhook } from "./wanted.ts";

const { deliveries: texts } = webhooksTexts;

const SHOWN = 20;

type Delivery = AnswerOf<"GET /webhooks/:id/deliveries">["items"][number];

interface DeliveriesProps {
  readonly webhook: Webhook;
  readonly isOwner: boolean;
  readonly onClose: () => void;
}

export function Deliveries({ webhook: { id, url }, isOwner, onClose }: DeliveriesProps) {
  const answer = useApi("GET /webhooks/:id/deliveries", { params: { id }, query: { page_size: String(SHOWN) } });
  const [told, setTold] = useState<Delivery>();
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <p>
        <Typed text={url} />
      </p>
      {told === undefined ? null : (
        <Notice kind={told.status === "delivered" ? "good" : "warn"}>
          <p>{told.status === "delivered" ? texts.good : texts.bad(told.error)}</p>
        </Notice>
      )}
      <Loaded query={answer}>
        {({ total, items }) =>
          total === 0 ? (
            <p>{texts.empty}</p>
          ) : (
            <>
              <ul class="deliveries">
                {items.map((delivery) => (
                  <li key={delivery.id}>
                    <Attempt {...{ delivery, isOwner, webhookId: id }} onTold={setTold} />
                  </li>
                ))}
              </ul>
              {total > items.length ? <p class="quiet">{texts.more(total, items.length)}</p> : null}
            </>
          )
        }
      </Loaded>
      <p class="actions">
        <Button onClick={onClose}>{texts.close}</Button>
      </p>
    </Dialog>
  );
}

interface AttemptProps {
  readonly webhookId: number;
  readonly delivery: Delivery;
  readonly isOwner: boolean;
  readonly onTold: (delivery: Delivery) => void;
}

function Attempt({ webhookId, delivery, isOwner, onTold }: AttemptProps) {
  const { id, message_id: message, type, attempt, status, error, at } = delivery;
  const work = useAction(async () => {
    const params = { id: webhookId, deliveryId: id };
    onTold(await api("POST /webhooks/:id/deliveries/:deliveryId/redeliver", { params }));
    await forgetAnswers();
  });
  return (
    <div class="event">
      <span>
        <span class={`status ${status === "delivered" ? "active" : "expired"}`}>{texts.status[status]}</span>{" "}
        {type === "webhook.ping" ? texts.ping : actionTexts.actions[type].label}
      </span>
      <span class="hint">
        <Time at={at} />, {texts.attempt(attempt)}, <code>{message}</code>
      </span>
      {error === "" ? null : <Typed text={error} />}
      {isOwner ? (
        <Button aria-label={texts.againOf(message)} busy={work.busy && texts.busy} onClick={() => void work.run()}>
          {texts.again}
        </Button>
      ) : null}
      <Failure failure={work.failure} />
    </div>
  );
}
