/** A manager asks for more time for somebody of the company. */

import { api } from "../../../api.ts";
import { ownCompanyTexts } from "../../../texts/user/company.ts";
import { userTexts } from "../../../texts/user/user.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { useMoreTime } from "../overview/more-time.tsx";
import type { Colleague } from "./colleague.ts";
import { useManaging } from "./use-managing.ts";

export function MoreTimeForColleague({ person, onClose, onDone }: DialogProps & { readonly person: Colleague }) {
  const { time } = userTexts;
  const wanted = useMoreTime();
  const work = useManaging(async () => {
    const body = wanted.read();
    if (body === undefined) return;
    await api("POST /me/company/applications", { body: { user_id: person.id, ...body } });
    onDone(time.sent);
  });
  return (
    <FormDialog
      title={ownCompanyTexts.time.title(person.username)}
      texts={{ submit: time.send, busy: time.sending }}
      {...{ work, onClose }}
    >
      {wanted.fields}
    </FormDialog>
  );
}
