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
import type { Application } from "../applications/application.ts";
import { daysOf, later, wholeDays } from "../days.ts";
import { Will } from "../effects.tsx";
import { usePrefilled } from "../prefilled.ts";
import { useSetting } from "../setting.ts";
import { useNewTimes } from "../user/new-times.tsx";

/** What is known of somebody who is not a user. */
type Known = Pick<
  Application,
  "username" | "email" | "full_name" | "supervisor" | "purpose" | "sponsor_email" | "company_id"
>;

const NOBODY: Known = {
  ...{ username: "", email: "", full_name: "", supervisor: "", purpose: "", sponsor_email: "", company_id: null },
};

interface CreateDialogProps {
  /** Stands in the fields at first. */
  readonly from?: Known;
  readonly onClose: () => void;
  readonly onDone: (content: ComponentChildren) => void;
}

type Wrong = Partial<Record<"username" | "email" | "days", string>>;

export function CreateDialog({ from = NOBODY, onClose, onDone }: CreateDialogProps) {
  const { create } = userListTexts;
  const standard = useSetting("policy.default_ttl");
  const [username, setUsername] = useState(from.username);
  const [email, setEmail] = useState(from.email);
  const { company_id } = from;
  const company = useCompany({ user: { company_id, manager: false } });
  const profile = useProfile();
  const person = usePerson(from, [company.fields, profile.field]);
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
    const chosen = await company.read();
    if (first !== undefined || when === undefined || chosen === undefined) return;
    const known = { username: username.trim(), email: email.trim(), ...person.texts, ...chosen, ...profile.changes };
    const ttl_days = times.until === "" ? (days ?? 0) : 0;
    const user = await api("POST /users", { body: { company_id, ...known, ttl_days, ...when } });
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
function usePerson(from: Known, company: ComponentChildren) {
  const { create } = userListTexts;
  const [fullName, setFullName] = useState(from.full_name);
  const [supervisor, setSupervisor] = useState(from.supervisor);
  const [sponsor, setSponsor] = useState(from.sponsor_email);
  const [purpose, setPurpose] = useState(from.purpose);
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
