/** An answer for one or several users of a review: what it does, why, and until when. */

import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { instantOf } from "../../local-time.ts";
import { reviewTexts } from "../../texts/admin/reviews.ts";
import { Input } from "../../ui/field.tsx";
import { isolated } from "../../ui/isolated.ts";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { previewChange } from "../admin/change.ts";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";
import { useReason } from "../admin/reason.tsx";
import type { Answering } from "./record.ts";

export function AnswerDialog({
  review,
  answer,
  items,
  ...props
}: Answering & DialogProps & { readonly review: number }) {
  const { answer: texts, answers, who: whoOf } = reviewTexts;
  const [local, setLocal] = useState("");
  // Of several, the service wants one.
  const reason = useReason(items.length > 1);
  const until = instantOf(local, "since");
  const isDated = answer === "shorten" || answer === "grace";
  const who = whoOf(items.map(({ username }) => isolated(username)));
  // Without what says that there is a dialog.
  const submit = answers[answer].slice(0, -2);
  const [only] = items.length === 1 ? items : [];
  return (
    <PreviewedDialog
      title={texts.title(submit, who)}
      texts={{ submit, busy: texts.busy }}
      wanted={isDated && until === "" ? undefined : { answer, ...(isDated ? { until } : {}) }}
      preview={async () => {
        // Of one, the service says what ends.
        if (only !== undefined && answer === "end") return await previewChange(only.user_id, { kind: "disable" });
        if (only !== undefined && answer === "shorten")
          return await previewChange(only.user_id, { kind: "extend", until });
        return { preview: true as const, host: [], effects: [texts.effects[answer]] };
      }}
      isConfirmed={() => reason.read() !== undefined}
      change={async (body) => {
        const users = items.map(({ user_id: id }) => id);
        const why = reason.read() ?? "";
        await api("POST /reviews/:id/items", { params: { id: review }, body: { ...body, users, reason: why } });
        return texts.done(who);
      }}
      isDanger={answer === "end" || answer === "shorten"}
      {...props}
    >
      {isDated ? <Input label={texts.until} type="datetime-local" required value={local} onValue={setLocal} /> : null}
      {reason.field}
    </PreviewedDialog>
  );
}
