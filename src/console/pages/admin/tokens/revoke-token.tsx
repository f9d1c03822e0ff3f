/** Revokes a token, once it was said what that does. */

import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { tokensTexts } from "../../../texts/admin/tokens.ts";
import { useAction } from "../../../ui/action.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Sentences } from "../../../ui/sentences.tsx";
import { Time } from "../../../ui/time.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";

export type Token = AnswerOf<"GET /tokens">["items"][number];

const { revoke: texts, never } = tokensTexts;

interface RevokeProps extends DialogProps {
  readonly token: Token;
}

export function RevokeToken({ token, onClose, onDone }: RevokeProps) {
  const { id, name, prefix, last_used_at: used } = token;
  const work = useAction(async () => {
    await api("DELETE /tokens/:id", { params: { id } });
    await forgetAnswers();
    onDone(texts.done(isolated(name)));
  });
  return (
    <FormDialog title={texts.title(isolated(name))} {...{ work, onClose, texts }} isDanger>
      <p>
        <code>{prefix}…</code> {texts.used} {used === null ? never : <Time at={used} both />}
      </p>
      <Sentences items={texts.effects} />
    </FormDialog>
  );
}
