/** Applying for access: checked here by the service's own rules, decided by an administrator. */

import { useState } from "preact/hooks";
import { PAGES } from "../../../shared/product/pages.ts";
import { ApiFailure, api } from "../../api.ts";
import { useInstallation } from "../../installation.ts";
import { publicTexts } from "../../texts/public.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Area, Input } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Page } from "../../ui/page.tsx";
import { Sentences } from "../../ui/sentences.tsx";
import { type Faults, faultsOf, leftOf, refusedField, sentOf, type Typed } from "./application.ts";
import { Beside } from "./beside.tsx";
import { Outcome } from "./outcome.tsx";
import { Refusal, reasonOf } from "./refusal.tsx";

const EMPTY: Typed = {
  username: "",
  email: "",
  full_name: "",
  supervisor: "",
  sponsor_email: "",
  purpose: "",
  hours_wish: "",
};

/** Of a field for an e-mail address. */
const ADDRESS = { type: "email", autocapitalize: "none" } as const;

export function Apply() {
  const [sent, setSent] = useState<Typed>();
  const { apply } = publicTexts;
  return (
    <Page title={apply.title}>
      {sent === undefined ? (
        <Beside title={apply.nextTitle} items={apply.next} areSteps>
          <ApplicationForm onSent={setSent} />
        </Beside>
      ) : (
        <Outcome>
          <Sent email={sent.email} />
        </Outcome>
      )}
    </Page>
  );
}

function ApplicationForm({ onSent }: { readonly onSent: (application: Typed) => void }) {
  const [typed, setTyped] = useState(EMPTY);
  const [faults, setFaults] = useState<Faults>({});
  const { apply } = publicTexts;
  const sponsor = useInstallation()?.sponsor;
  const sending = useAction(async () => {
    const found = faultsOf(typed);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const application = sentOf(typed);
    try {
      await api("POST /approvals", { body: application });
    } catch (error) {
      const refused = error instanceof ApiFailure && error.status === 400 ? refusedField(error.message) : undefined;
      if (refused === undefined) throw error;
      setFaults(refused);
      return;
    }
    onSent(application);
  });
  /** The attributes of a field; its fault is shown once the form was sent, and from then on is about the present text. */
  const field = (name: keyof Typed) => ({
    name,
    value: typed[name],
    error: faults[name],
    onValue: (value: string) => {
      const changed = { ...typed, [name]: value };
      setTyped(changed);
      if (faults[name] !== undefined) setFaults({ ...faults, [name]: faultsOf(changed)[name] });
    },
  });
  const left = leftOf(typed.purpose);
  return (
    <Form class="form card" onSubmit={() => void sending.run()}>
      <Input
        {...field("username")}
        label={apply.name}
        hint={apply.nameHint}
        autocomplete="username"
        autocapitalize="none"
        required
      />
      <Input
        {...field("email")}
        label={apply.email}
        hint={apply.emailHint}
        {...ADDRESS}
        autocomplete="email"
        required
      />
      <Input {...field("full_name")} label={apply.fullName} autocomplete="name" />
      <Input {...field("supervisor")} label={apply.supervisor} hint={apply.supervisorHint} autocomplete="off" />
      {sponsor === "off" ? null : (
        <Input
          {...field("sponsor_email")}
          label={apply.sponsor}
          hint={apply.sponsorHint}
          {...ADDRESS}
          autocomplete="off"
        />
      )}
      <Area
        {...field("purpose")}
        label={apply.purpose}
        hint={`${apply.purposeHint} ${left < 0 ? apply.over(-left) : apply.left(left)}`}
        rows={5}
      />
      <Input {...field("hours_wish")} label={apply.hours} hint={apply.hoursHint} autocomplete="off" />
      <Refusal
        failure={sending.failure}
        saying={reasonOf(sending.failure) === "application.limit" ? { text: apply.full } : undefined}
      />
      <p class="actions">
        <Button type="submit" kind="primary" busy={sending.busy && apply.submitting}>
          {apply.submit}
        </Button>
      </p>
    </Form>
  );
}

/** The next steps. The form's answer is the same for every name. */
function Sent({ email }: { readonly email: string }) {
  const { apply } = publicTexts;
  const [before, address, after] = apply.sent(email);
  return (
    <section class="card narrow">
      <h2>{apply.sentTitle}</h2>
      <p>
        {before}
        <bdi class="typed">{address}</bdi>
        {after}
      </p>
      <Sentences items={apply.next} areSteps />
      <p>
        <a href={PAGES.home}>{apply.back}</a>
      </p>
    </section>
  );
}
