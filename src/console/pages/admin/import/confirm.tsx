/** The confirmation of an import: how many are created, and whether they are told. */

import { useState } from "preact/hooks";
import { ApiFailure, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { importTexts } from "../../../texts/admin/import.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Will } from "../effects.tsx";
import { useChangeAction } from "../user/use-change.ts";
import type { Imported, ImportPreview } from "./checked.tsx";

export interface CheckedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly preview: ImportPreview;
}

interface ConfirmImportProps {
  readonly checked: CheckedBytes;
  /** Closed without an answer; `hasFailed` if some may be created all the same. */
  readonly onClose: (hasFailed: boolean) => void;
  readonly onDone: (imported: Imported, mail: boolean) => void;
}

export function ConfirmImport({ checked: { bytes, preview }, onClose, onDone }: ConfirmImportProps) {
  const { good, faults } = preview;
  const texts = importTexts.confirm;
  const [mail, setMail] = useState(true);
  const work = useChangeAction(async () => {
    // Nobody is left out unless they were shown as left out.
    const query = { only_good: faults.total > 0 ? "true" : "false", mail: mail ? "true" : "false" } as const;
    const imported = await api("POST /users/import", { query, body: { bytes } });
    if ("preview" in imported) throw new Error("The service answered an import with a preview");
    await forgetAnswers();
    onDone(imported, mail);
  });
  const left = faults.existing + faults.faulty;
  const sentences = [
    texts.accounts(good),
    mail ? texts.told : texts.notTold,
    ...(left > 0 ? [texts.leftOut(left)] : []),
  ];
  const isUnanswered = work.failure instanceof ApiFailure && work.failure.status === 0;
  return (
    <FormDialog
      title={texts.title(good)}
      work={work}
      onClose={() => onClose(work.failure !== undefined)}
      texts={{ submit: texts.submit(good), busy: texts.busy }}
      // What failed may hold in part: the file is checked again before another try.
      isPossible={work.failure === undefined}
      failure={isUnanswered ? <Notice kind="bad" title={texts.noAnswer} /> : undefined}
    >
      <label class="check">
        <input type="checkbox" checked={mail} onInput={(event) => setMail(event.currentTarget.checked)} />
        {texts.mail}
      </label>
      <Will sentences={sentences} />
    </FormDialog>
  );
}
