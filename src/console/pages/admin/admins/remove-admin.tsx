/** Removes an administrator, once their name was typed. */

import { useState } from "preact/hooks";
import { api } from "../../../api.ts";
import { useSession } from "../../../session.tsx";
import { forgetAnswers } from "../../../signed-in.tsx";
import { adminsTexts } from "../../../texts/admin/admins.ts";
import { useAction } from "../../../ui/action.ts";
import { Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Sentences } from "../../../ui/sentences.tsx";
import { Typed } from "../../../ui/typed.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { useApi } from "../../../use-api.tsx";
import type { Admin } from "./change-admin.tsx";
import { AdminFailure } from "./last-owner.tsx";

const { remove: texts } = adminsTexts;

interface RemoveProps extends DialogProps {
  readonly admin: Admin;
}

export function RemoveAdmin({ admin: { id, username, sso }, onClose, onDone }: RemoveProps) {
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<string>();
  const { state, end } = useSession();
  const isOwn = state.kind === "open" && state.principal.id === id;
  const made = useWebhooksOf(username);
  const work = useAction(async () => {
    const isConfirmed = typed.trim() === username;
    setError(isConfirmed ? undefined : texts.confirmError(username));
    if (!isConfirmed) return;
    await api("DELETE /admins/:id", { params: { id } });
    if (isOwn) return end();
    await forgetAnswers();
    onDone(texts.done(username));
  });
  return (
    <FormDialog
      title={texts.title(username)}
      {...{ work, onClose, texts }}
      isDanger
      failure={<AdminFailure failure={work.failure} />}
    >
      {isOwn ? (
        <Notice kind="warn">
          <p>{texts.own}</p>
        </Notice>
      ) : null}
      <Sentences items={[...texts.effects, ...(sso ? [texts.ssoEffect] : [])]} />
      {made.length === 0 ? null : (
        <>
          <p>{texts.webhooks}</p>
          <ul>
            {made.map(({ id: webhook, url }) => (
              <li key={webhook}>
                <Typed text={url} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Input
        label={texts.confirm(username)}
        error={error}
        name="confirmation"
        autocomplete="off"
        autocapitalize="none"
        required
        value={typed}
        onValue={setTyped}
      />
    </FormDialog>
  );
}

/** The webhooks that the administrator made: they send audit records to where they want. */
function useWebhooksOf(username: string) {
  const { data } = useApi("GET /webhooks", { query: { page_size: "100" } });
  return data?.items.filter(({ made_by: maker, maker_removed: isRemoved }) => maker === username && !isRemoved) ?? [];
}
