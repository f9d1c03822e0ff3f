/** A change of hosts, groups, a user's hosts or a company: what it would do, then the confirmation. */

import { useQuery } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import type { AnswerOf } from "../../api.ts";
import { forgetAnswers } from "../../signed-in.tsx";
import { effectTexts } from "../../texts/admin/user.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Planned, Will } from "./effects.tsx";
import { useSettled } from "./user/change-dialog.tsx";
import { useChangeAction } from "./user/use-change.ts";

type FleetPreview = AnswerOf<"GET /hosts/:id/preview">;
type Told = Omit<FleetPreview, "accounts"> & Partial<Pick<FleetPreview, "accounts">>;

interface PreviewedProps<B, T> {
  readonly title: string;
  readonly texts: { readonly submit: string; readonly busy: string };
  /** The request, as the service takes it; undefined while the text that was typed is no valid one. */
  readonly wanted: B | undefined;
  readonly preview: (wanted: B) => Promise<T | Told>;
  readonly change: (wanted: B) => Promise<string>;
  /** Asked before anything is done; false where something typed is wrong, which the fields then say. */
  readonly isConfirmed?: () => boolean;
  readonly isDanger?: boolean;
  readonly onClose: () => void;
  /** Told what was done, as a sentence. */
  readonly onDone: (sentence: string) => void;
  /** The fields. */
  readonly children?: ComponentChildren;
}

/** The dialog. Nobody confirms what they have not been shown. */
export function PreviewedDialog<B, T extends object>(props: PreviewedProps<B, T>) {
  const { title, texts, wanted, isDanger = false, onClose, onDone, children } = props;
  const key = wanted === undefined ? "" : JSON.stringify(wanted);
  const settled = useSettled(key);
  const answer = useQuery<Told, Error>({
    queryKey: ["preview", title, settled],
    queryFn: async () => {
      const told = await props.preview(JSON.parse(settled) as B);
      if (!("preview" in told)) throw new Error("The service answered a preview with something else");
      return told;
    },
    enabled: settled !== "",
    ...{ staleTime: 0, gcTime: 0, refetchOnWindowFocus: false },
  });
  const work = useChangeAction(async () => {
    if (wanted === undefined || props.isConfirmed?.() === false) return;
    const sentence = await props.change(wanted);
    void forgetAnswers();
    onDone(sentence);
  });
  return (
    <FormDialog
      {...{ title, work, texts, isDanger, onClose }}
      isPossible={key !== "" && answer.error === null}
      isReady={answer.data !== undefined && !answer.isFetching && settled === key}
    >
      {children}
      {key === "" ? null : <Effects told={answer.data} failure={answer.error} onRetry={() => void answer.refetch()} />}
    </FormDialog>
  );
}

interface EffectsProps {
  readonly told: Told | undefined;
  readonly failure: Error | null;
  readonly onRetry: () => void;
}

function Effects({ told, failure, onRetry }: EffectsProps) {
  if (failure !== null) return <Failure failure={failure} onRetry={onRetry} />;
  if (told === undefined) return <Loading />;
  const { opened = 0, removed = 0 } = told.accounts ?? {};
  return (
    <Will sentences={told.effects}>
      {opened > 0 && told.effects.length > 1 ? <p class="warned">{effectTexts.opens(opened)}</p> : null}
      {removed > 0 ? <p class="warned">{effectTexts.removes}</p> : null}
      <Planned changes={told.host} />
    </Will>
  );
}
