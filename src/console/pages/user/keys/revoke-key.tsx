/** Taking a key away: what that ends is said before. */

import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { userTexts } from "../../../texts/user/user.ts";
import { useAction } from "../../../ui/action.ts";
import { withHosts } from "../../../ui/confirmed.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Notice } from "../../../ui/notice.tsx";
import { Sentences } from "../../../ui/sentences.tsx";
import { Typed } from "../../../ui/typed.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import type { OwnKey } from "../own-account.ts";

interface RevokeKeyProps extends DialogProps {
  readonly target: OwnKey;
  /** Whether no other key opens the account. */
  readonly isLast: boolean;
}

export function RevokeKey({ target, isLast, onClose, onDone }: RevokeKeyProps) {
  const { revoke } = userTexts.keys;
  const work = useAction(async () => {
    let answer: AnswerOf<"DELETE /me/keys/:id">;
    try {
      answer = await api("DELETE /me/keys/:id", { params: { id: target.id } });
    } catch (error) {
      // The state may have changed: the account may be disabled, or another tab was first.
      void forgetAnswers();
      throw error;
    }
    await forgetAnswers();
    onDone(withHosts(revoke.done(isolated(target.name)), answer));
  });
  return (
    <FormDialog
      title={revoke.title}
      {...{ work, onClose }}
      texts={{ submit: revoke.yes(isolated(target.name)), busy: revoke.busy }}
      isDanger
    >
      <p>
        <strong>
          <Typed text={target.name} />
        </strong>{" "}
        <code class="quiet">{target.fingerprint}</code>
      </p>
      <Sentences items={revoke.effects} />
      {isLast ? (
        <Notice kind="warn">
          <p>{revoke.last}</p>
        </Notice>
      ) : null}
    </FormDialog>
  );
}
