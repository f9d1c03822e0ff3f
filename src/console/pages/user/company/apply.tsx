/** A manager applies for a colleague. */

import { useState } from "preact/hooks";
import { USERNAME } from "../../../../shared/text/account-name.ts";
import { isEmail, MAX_HOURS_WISH, MAX_PURPOSE } from "../../../../shared/text/person.ts";
import { api } from "../../../api.ts";
import { ownCompanyTexts } from "../../../texts/user/company.ts";
import { oneLine, withoutBreaks } from "../../../typed-text.ts";
import { Area, Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { useManaging } from "./use-managing.ts";

const { apply: texts } = ownCompanyTexts;

const EMPTY = { username: "", email: "", full_name: "", purpose: "", hours_wish: "" };

export function ApplyForColleague({ onClose, onDone }: DialogProps) {
  const [typed, setTyped] = useState(EMPTY);
  const [fault, setFault] = useState<keyof typeof EMPTY>();
  const work = useManaging(async () => {
    const username = typed.username.trim();
    const email = typed.email.trim();
    const purpose = oneLine(typed.purpose);
    const wrong = !USERNAME.test(username)
      ? "username"
      : !isEmail(email)
        ? "email"
        : purpose === ""
          ? "purpose"
          : undefined;
    setFault(wrong);
    if (wrong !== undefined) return;
    await api("POST /me/company/applications", { body: { ...typed, username, email, purpose } });
    onDone(texts.done(username));
  });
  const field = (name: keyof typeof EMPTY, label: string, error?: string) => ({
    ...{ name, label, value: typed[name], required: error !== undefined },
    error: fault === name ? error : undefined,
    onValue: (value: string) => setTyped({ ...typed, [name]: withoutBreaks(value) }),
  });
  return (
    <FormDialog title={texts.title} texts={texts} {...{ work, onClose }}>
      <p>{texts.text}</p>
      <Input {...field("username", texts.username, texts.usernameWrong)} autocomplete="off" autoCapitalize="none" />
      <Input {...field("email", texts.email, texts.emailWrong)} type="email" autocomplete="off" />
      <Input {...field("full_name", texts.fullName)} autocomplete="off" />
      <Area {...field("purpose", texts.purpose, texts.purposeWrong)} maxLength={MAX_PURPOSE} rows={3} />
      <Input
        {...field("hours_wish", texts.hours)}
        hint={texts.hoursHint}
        maxLength={MAX_HOURS_WISH}
        autocomplete="off"
      />
    </FormDialog>
  );
}
