/** Revokes a token, once it was said what that does. */

import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { tokensTexts } from "../../../texts/admin-tokens.ts";
import { common } from "../../../texts/common.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Failure } from "../../../ui/notice.tsx";
import { Time } from "../../../ui/time.tsx";

export type Token = AnswerOf<"GET /tokens">["items"][number];

const { revoke: texts, never } = tokensTexts;

interface RevokeProps {
  readonly token: Token;
  readonly onClose: () => void;
  /** Told what was done, in a sentence. */
  readonly onDone: (sentence: string) => void;
}

export function RevokeToken({ token, onClose, onDone }: RevokeProps) {
  const { id, name, prefix, last_used_at: used } = token;
  const work = useAction(async () => {
    await api("DELETE /tokens/:id", { params: { id } });
    await forgetAnswers();
    onDone(texts.done(isolated(name)));
    onClose();
  });
  return (
    <Dialog title={texts.title(isolated(name))} onClose={() => (work.busy ? undefined : onClose())}>
      <p>
        <code>{prefix}…</code> {texts.used} {used === null ? never : <Time at={used} both />}
      </p>
      <ul>
        {texts.effects.map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
      <Failure failure={work.failure} />
      <p class="actions">
        <Button kind="danger" busy={work.busy && texts.busy} onClick={() => void work.run()}>
          {texts.submit}
        </Button>
        <Button onClick={() => (work.busy ? undefined : onClose())}>{common.cancel}</Button>
      </p>
    </Dialog>
  );
}
