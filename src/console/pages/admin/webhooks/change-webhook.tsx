/** Changes a webhook, or switches it on or off. */

import { useState } from "preact/hooks";
import { api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { webhooksTexts } from "../../../texts/admin/webhooks.ts";
import { Select } from "../../../ui/field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { type Confirmed, ConfirmedDialog } from "../account/confirm.tsx";
import { WebhookFields } from "./fields.tsx";
import { bodyOf, faultsOf, type Webhook, wantedOf } from "./wanted.ts";

const { change: texts } = webhooksTexts;

interface ChangeProps extends DialogProps {
  readonly webhook: Webhook;
}

export function ChangeWebhook({ webhook, onClose, onDone }: ChangeProps) {
  const [wanted, setWanted] = useState(wantedOf(webhook));
  const [status, setStatus] = useState(webhook.status);
  const [faults, setFaults] = useState({ url: false, chosen: false });
  const [isSame, setSame] = useState(false);
  const change = async (confirmed: Confirmed) => {
    setSame(false);
    const found = faultsOf(wanted);
    setFaults(found);
    const { url, actions } = bodyOf(wanted);
    const body = {
      ...(url === webhook.url ? {} : { url }),
      ...(sameSet(actions, webhook.actions) ? {} : { actions }),
      ...(status === webhook.status ? {} : { status }),
    };
    setSame(Object.keys(body).length === 0);
    if (found.url || found.chosen || Object.keys(body).length === 0) return;
    const params = { id: webhook.id };
    const done = await confirmed((sure) => api("PATCH /webhooks/:id", { params, body: { ...body, ...sure } }));
    if (done === undefined) return;
    await forgetAnswers();
    onDone(texts.done);
  };
  return (
    <ConfirmedDialog
      title={texts.title}
      act={change}
      isAsked={bodyOf(wanted).url !== webhook.url}
      {...{ onClose, texts }}
    >
      <WebhookFields wanted={wanted} onWanted={setWanted} faults={faults} />
      <Select
        label={texts.status}
        hint={texts.statusHint}
        name="status"
        value={status}
        onValue={(value) => setStatus(value as Webhook["status"])}
        options={Object.entries(texts.statuses)}
      />
      {isSame ? (
        <Notice kind="info">
          <p>{texts.nothing}</p>
        </Notice>
      ) : null}
    </ConfirmedDialog>
  );
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((action) => other.includes(action));
}
