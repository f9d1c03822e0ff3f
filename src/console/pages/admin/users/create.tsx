/** Creating a user: what the name may be, and what will happen. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { userPage } from "../../../../shared/product/pages.ts";
import { ACCOUNT_PREFIX, hostAccountOf, USERNAME } from "../../../../shared/text/account-name.ts";
import { isEmail } from "../../../../shared/text/person.ts";
import { DAY } from "../../../../shared/time/clock.ts";
import { api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { userTexts } from "../../../texts/admin/user.ts";
import { userListTexts } from "../../../texts/admin/users.ts";
import { userHoursTexts } from "../../../texts/hours/hours.ts";
import { withoutBreaks } from "../../../typed-text.ts";
import { useAction } from "../../../ui/action.ts";
import { day, moment, now } from "../../../ui/clock.ts";
import { Area, Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Time } from "../../../ui/time.tsx";
import { useCompany } from "../../companies/choice.tsx";
import { useProfile } from "../../profiles/choice.tsx";
import { daysOf, later, wholeDays } from "../days.ts";
import { Will } from "../effects.tsx";
import { usePrefilled } from "../prefilled.ts";
import { useSetting } from "../setting.ts";
import { useNewTimes } from "../user/new-times.tsx";

interface CreateDialogProps {
  readonly onClose: () => void;
  readonly onDone: (content: ComponentChildren) => void;
}

type Wrong = Partial<Record<"username" | "email" | "days", string>>;

export function CreateDialog({ onClose, onDone }: CreateDialogProps) {
  const { create } = userListTexts;
  const standard = useSetting("policy.default_ttl");
  const [username, setUsername] = useState("");
  const [email, setEmail] = useState("");
  const company = useCompany();
  const profile = useProfile();
  const person = usePerson([company.fields, profile.field]);
  const times = useNewTimes();
  const [typedDays, setDays] = useState<string>();
  const [wrong, setWrong] = useState<Wrong>({});
  const text = usePrefilled("days", typedDays, wholeDays(standard));
  // Of a company, the default or what it allows, unless somebody says otherwise.
  const days = typedDays === undefined && company.isChosen ? 0 : daysOf(text);
  const work = useAction(async () => {
    const first = firstWrong(username.trim(), email.trim(), isBoth(times.until, typedDays) ? "both" : days);
    setWrong(first === undefined ? {} : Object.fromEntries([first]));
    const when = times.read();
    const from = await company.read();
    if (first !== undefined || when === undefined || from === undefined) return;
    const known = { username: username.trim(), email: email.trim(), ...person.texts, ...from, ...profile.changes };
    const ttl_days = times.until === "" ? (days ?? 0) : 0;
    const user = await api("POST /users", { body: { ...known, ttl_days, ...when } });
    await forgetAnswers();
    onDone(
      <p>
        {create.done(user.username)} <Time at={user.expire_at} isEnd />. <a href={userPage(user.id)}>{create.goTo}</a>
      </p>,
    );
  });
  return (
    <FormDialog title={create.title} {...{ work, onClose }} texts={create}>
      <Input
        label={create.username}
        hint={create.usernameHint}
        error={wrong.username}
        value={username}
        onValue={setUsername}
        autocomplete="off"
        autoCapitalize="none"
        required
      />
      <Input
        label={create.email}
        error={wrong.email}
        type="email"
        value={email}
        onValue={setEmail}
        autocomplete="off"
        required
      />
      {person.fields}
      <Input
        label={create.days}
        hint={create.daysHint(wholeDays(standard))}
        name="days"
        error={wrong.days}
        value={text}
        onValue={setDays}
        inputMode="numeric"
        autocomplete="off"
      />
      {times.fields}
      <Effects username={username.trim()} email={email.trim()} days={days ?? 0} until={times.until} />
    </FormDialog>
  );
}

/** The texts about the person, all of them optional, with the fields of the company and the profile among them. */
function usePerson(company: ComponentChildren) {
  const { create } = userListTexts;
  const [fullName, setFullName] = useState("");
  const [supervisor, setSupervisor] = useState("");
  const [sponsor, setSponsor] = useState("");
  const [purpose, setPurpose] = useState("");
  return {
    texts: { full_name: fullName, supervisor, sponsor_email: sponsor.trim(), purpose },
    fields: (
      <>
        <Input label={create.fullName} value={fullName} onValue={setFullName} autocomplete="off" />
        <Input label={create.supervisor} value={supervisor} onValue={setSupervisor} autocomplete="off" />
        <Input
          label={create.sponsor}
          hint={create.sponsorHint}
          type="email"
          value={sponsor}
          onValue={setSponsor}
          autocomplete="off"
        />
        {company}
        <Area label={create.purpose} value={purpose} onValue={(value) => setPurpose(withoutBreaks(value))} rows={2} />
      </>
    ),
  };
}

/** The first field with a fault, and the fault: it takes the focus, one at a time. */
function firstWrong(username: string, email: string, days: number | "both" | undefined): [string, string] | undefined {
  return Object.entries({
    ...wrongName(username),
    ...(isEmail(email) ? {} : { email: userListTexts.create.emailWrong }),
    ...(days === undefined ? { days: userTexts.extend.daysWrong } : {}),
    ...(days === "both" ? { days: userHoursTexts.both } : {}),
  })[0];
}

/** Whether days were typed, and an end, too. */
function isBoth(until: string, days: string | undefined): boolean {
  return until !== "" && (days ?? "").trim() !== "";
}

function wrongName(name: string): Wrong {
  const { create } = userListTexts;
  if (name.startsWith(ACCOUNT_PREFIX)) return { username: create.withoutPrefix(ACCOUNT_PREFIX) };
  return USERNAME.test(name) ? {} : { username: create.usernameWrong };
}

interface EffectsProps {
  readonly username: string;
  readonly email: string;
  readonly days: number;
  /** The end itself, instead of days; "" for none. */
  readonly until: string;
}

function Effects({ username, email, days, until: end }: EffectsProps) {
  const { create } = userListTexts;
  const until = end !== "" ? moment(end) : days === 0 ? undefined : day(later(now(), days * DAY));
  const account = wrongName(username).username === undefined ? hostAccountOf(username) : undefined;
  return <Will sentences={[create.effectAccount(account), create.effectEnds(until), create.effectMail(email)]} />;
}
