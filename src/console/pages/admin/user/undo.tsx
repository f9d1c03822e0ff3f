/** Below what was done to a user: the way back, for as long as nothing else changed. */

import { forgetAnswers } from "../../../signed-in.tsx";
import { userTexts } from "../../../texts/admin/user.ts";
import { Button } from "../../../ui/button.tsx";
import { endMoment } from "../../../ui/clock.ts";
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
  const tooLate = useDone();
  const work = useChangeAction(async () => {
    try {
      const hosts = await undo(back);
      onDone(`${undone(back)} ${hosts}`.trimEnd());
    } catch (error) {
      if (!isChanged(error)) throw error;
      void forgetAnswers();
      tooLate.tell(texts.changed(back.user.username), undefined, "warn");
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

function undone({ change, user: { username, expire_at: end } }: WayBack): string {
  if (change.kind === "enable") return `${texts.enabled(username)} ${texts.jobs}`;
  return change.kind === "disable" ? texts.disabled(username) : texts.ends(username, endMoment(end));
}
