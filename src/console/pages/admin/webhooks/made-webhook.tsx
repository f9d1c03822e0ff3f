/** The secret of a webhook that was just made: to be stored elsewhere now, because it is never shown again. */

import { webhooksTexts } from "../../../texts/admin/webhooks.ts";
import { Button } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copy.tsx";

const { made: texts } = webhooksTexts;

/** It is in the page only as long as this is. */
export function MadeWebhook({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <>
      <p>
        <strong>{texts.title}</strong>
      </p>
      <Copyable text={secret} label={texts.label} />
      <p>{texts.text}</p>
      <p class="actions">
        <Button onClick={onClose}>{texts.close}</Button>
      </p>
    </>
  );
}
