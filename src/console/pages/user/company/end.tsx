/** A manager ends the access of somebody of the company. */

import { api } from "../../../api.ts";
import { ownCompanyTexts } from "../../../texts/user/company.ts";
import { withHosts } from "../../../ui/confirmed.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import type { Colleague } from "./colleague.ts";
import { useManaging } from "./use-managing.ts";

const { end: texts } = ownCompanyTexts;

interface EndProps extends DialogProps {
  readonly person: Colleague;
  readonly isSelf: boolean;
}

export function EndColleague({ person: { id, username }, isSelf, onClose, onDone }: EndProps) {
  const work = useManaging(async () => {
    onDone(withHosts(texts.done(username), await api("POST /me/company/users/:id/end", { params: { id } })));
  });
  return (
    <FormDialog title={texts.title(username)} texts={texts} isDanger {...{ work, onClose }}>
      <p>{texts.text(username)}</p>
      {isSelf ? <p class="warned">{texts.self}</p> : null}
    </FormDialog>
  );
}
