/** Below what was done to a user: the way back, for as long as nothing else changed. */

import { forgetAnswers } from "../../../signed-in.tsx";
import { userTexts } from "../../../texts/admin/user.ts";
import { Button } from "../../../ui/button.tsx";
import { moment } from "../../../ui/clock.ts";
import { Failure } from "../../../ui/notice.tsx";
import { isChanged, undo, type WayBack } from "../change.ts";
import { Done, useDone } from "../done.tsx";
import { useChangeAction } from "./use-change.ts";

const { undo: texts } = userTexts;

interface UndoProps {
  readonly back: WayBack;
  /** Told that all is as it was, in a sentence. */
  readonly onDone: (sentence: string) => void;
}

export function Undo({ back, onDone }: UndoProps) {
  const { user, change } = back;
  const tooLate = useDone();
  const work = useChangeAction(async () => {
    try {
      const hosts = await undo(back);
      const done =
        change.kind === "disable" ? texts.disabled(user.username) : texts.ends(user.username, moment(user.expire_at));
      onDone(`${done} ${hosts}`.trimEnd());
    } catch (error) {
      if (!isChanged(error)) throw error;
      void forgetAnswers();
      tooLate.tell(texts.changed(user.username), undefined, "warn");
    }
  });
  if (tooLate.what !== undefined) return <Done what={tooLate.what} />;
  return (
    <>
      <Failure failure={work.failure} />
      <p class="actions">
        <Button busy={work.busy && texts.busy} onClick={() => void work.run()}>
          {texts.submit}
        </Button>
      </p>
    </>
  );
}
