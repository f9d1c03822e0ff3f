/** Makes a webhook. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { webhooksTexts } from "../../../texts/admin/webhooks.ts";
import { type Confirmed, ConfirmedDialog } from "../account/confirm.tsx";
import { WebhookFields } from "./fields.tsx";
import { bodyOf, faultsOf, type Wanted } from "./wanted.ts";

const { make: texts } = webhooksTexts;

interface MakeProps {
  readonly onClose: () => void;
  /** Given the webhook with its secret, which the service shows only this once. */
  readonly onMade: (webhook: AnswerOf<"POST /webhooks">) => void;
}

export function MakeWebhook({ onClose, onMade }: MakeProps) {
  const [wanted, setWanted] = useState<Wanted>({ url: "", isAll: true, chosen: [] });
  const [faults, setFaults] = useState({ url: false, chosen: false });
  const make = async (confirmed: Confirmed) => {
    const found = faultsOf(wanted);
    setFaults(found);
    if (found.url || found.chosen) return;
    const made = await confirmed((sure) => api("POST /webhooks", { body: { ...bodyOf(wanted), ...sure } }));
    if (made === undefined) return;
    // Before anything else that can fail: it is not shown again.
    onMade(made);
    onClose();
    await forgetAnswers();
  };
  return (
    <ConfirmedDialog title={texts.title} act={make} {...{ onClose, texts }}>
      <WebhookFields wanted={wanted} onWanted={setWanted} faults={faults} />
    </ConfirmedDialog>
  );
}
