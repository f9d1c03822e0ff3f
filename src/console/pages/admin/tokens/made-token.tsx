/** A token that was just made: to be stored elsewhere now, because it is never shown again. */

import { tokensTexts } from "../../../texts/admin/tokens.ts";
import { Button } from "../../../ui/button.tsx";
import { day } from "../../../ui/clock.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { isolated } from "../../../ui/isolated.ts";
import type { NewToken } from "./make-token.tsx";

const { made: texts } = tokensTexts;

/** The token, what it may do, and how it is used. It is in the page only as long as this is. */
export function MadeToken({ made, onClose }: { readonly made: NewToken; readonly onClose: () => void }) {
  const { name, role, networks, token, expires_at: end } = made;
  return (
    <>
      <p>
        <strong>{texts.title(isolated(name))}</strong>
      </p>
      <Copyable text={token} label={texts.label} />
      <p>{texts.may(role, day(end))}</p>
      <p>{networks.length === 0 ? texts.anywhere : texts.from(networks.join(", "))}</p>
      <p>{texts.use}</p>
      <Copyable
        text={`curl -H "Authorization: Bearer $TOKEN" ${location.origin}/api/v1/auth/me`}
        label={texts.useLabel}
      />
      <p class="actions">
        <Button onClick={onClose}>{texts.close}</Button>
      </p>
    </>
  );
}
