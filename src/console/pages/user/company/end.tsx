/** A manager ends the access of somebody of the company. */

import { api } from "../../../api.ts";
import { ownCompanyTexts } from "../../../texts/user/company.ts";
import { clockTime, now } from "../../../ui/clock.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import type { Colleague } from "./colleague.ts";
import { useManaging } from "./use-managing.ts";

const { end: texts } = ownCompanyTexts;

/** Clocks differ: what is true so soon is true now. */
const SOON = 60_000;

interface EndProps extends DialogProps {
  readonly person: Colleague;
  readonly isSelf: boolean;
}

export function EndColleague({ person: { id, username }, isSelf, onClose, onDone }: EndProps) {
  const work = useManaging(async () => {
    const { effective_by: by } = await api("POST /me/company/users/:id/end", { params: { id } });
    const isLater = by !== null && Date.parse(by) > now() + SOON;
    const where = by === null ? texts.unknown : isLater ? texts.by(clockTime(by)) : "";
    onDone(`${texts.done(username)} ${where}`.trimEnd());
  });
  return (
    <FormDialog title={texts.title(username)} texts={texts} isDanger {...{ work, onClose }}>
      <p>{texts.text(username)}</p>
      {isSelf ? <p class="warned">{texts.self}</p> : null}
    </FormDialog>
  );
}
