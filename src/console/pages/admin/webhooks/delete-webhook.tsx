/** Deletes a webhook, once it was said what that does. */

import { api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { webhooksTexts } from "../../../texts/admin/webhooks.ts";
import { useAction } from "../../../ui/action.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Sentences } from "../../../ui/sentences.tsx";
import { Typed } from "../../../ui/typed.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import type { Webhook } from "./wanted.ts";

const { remove: texts } = webhooksTexts;

interface DeleteProps extends DialogProps {
  readonly webhook: Webhook;
}

export function DeleteWebhook({ webhook: { id, url }, onClose, onDone }: DeleteProps) {
  const work = useAction(async () => {
    await api("DELETE /webhooks/:id", { params: { id } });
    await forgetAnswers();
    onDone(texts.done);
  });
  return (
    <FormDialog title={texts.title} {...{ work, onClose, texts }} isDanger>
      <p>
        <Typed text={url} />
      </p>
      <Sentences items={texts.effects} />
    </FormDialog>
  );
}
