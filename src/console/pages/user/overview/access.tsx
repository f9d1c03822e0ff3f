/** Access on request: asking for it, how long it is still open, why not now, and what became of the last request. */

import { useState } from "preact/hooks";
import { REQUEST_DAYS, UNANSWERED } from "../../../../shared/hours/on-request.ts";
import { PAGES } from "../../../../shared/product/pages.ts";
import { WITHDRAWN } from "../../../../shared/product/statuses.ts";
import { MAX_PURPOSE } from "../../../../shared/text/person.ts";
import { DAY } from "../../../../shared/time/clock.ts";
import { type AnswerOf, ApiFailure, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { accessTexts as texts } from "../../../texts/user/access.ts";
import { wholeNumber } from "../../../typed-text.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { moment, relative, useNow } from "../../../ui/clock.ts";
import { Area, Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Failure, Notice } from "../../../ui/notice.tsx";
import { Section } from "../../../ui/page.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { Done } from "../done.tsx";
import { type OwnAccount, shownName } from "../own-account.ts";

type OnRequest = NonNullable<OwnAccount["on_request"]>;

/** Nothing for whoever need not ask, and for accounts that are shut. */
export function AccessOnRequest({ own }: { readonly own: OwnAccount }) {
  const present = useNow();
  const [done, setDone] = useState("");
  const { on_request: rule, access, access_changes_at: changes } = own;
  if (rule === null || own.status !== "active") return null;
  const until = changes ?? own.ends.at;
  const isOpen = access === "open" && Date.parse(until) > present;
  const isOutside = access === "not_yet" || access === "outside_hours";
  const isPending = rule.request?.status === "pending";
  const shown = (name: string) => shownName({ name, ssh: own.ssh });
  return (
    <Section title={texts.title}>
      {done === "" ? null : <Done key={done}>{done}</Done>}
      {isOpen ? (
        <>
          <p class="lead">{texts.open(relative(Date.parse(until), present))}</p>
          <p>
            {texts.until} <time dateTime={until}>{moment(until)}</time>
          </p>
          <End label={texts.end} onDone={() => setDone(texts.ended)} />
        </>
      ) : (
        <p>{texts.rules[rule.rule]}</p>
      )}
      <LastRequest rule={rule} isOpen={isOpen} shown={shown} />
      {isPending ? null : isOutside ? (
        <p>{changes === null ? texts.over : texts.outside(moment(changes))}</p>
      ) : (
        <Ask rule={rule} isOpen={isOpen} shown={shown} onOpened={() => setDone(texts.opened)} />
      )}
    </Section>
  );
}

interface AboutProps {
  readonly rule: OnRequest;
  readonly isOpen: boolean;
  /** The name of a host as people know it. */
  readonly shown: (name: string) => string;
}

function LastRequest({ rule: { request }, isOpen, shown }: AboutProps) {
  if (request?.status === "pending") {
    return (
      <Notice kind="info" title={texts.waiting}>
        <p>
          {texts.asked(request.hours, moment(request.created_at), (request.hosts ?? []).map(shown))}{" "}
          {texts.void(moment(new Date(Date.parse(request.created_at) + REQUEST_DAYS * DAY).toISOString()))}
        </p>
        <End label={texts.withdraw} />
      </Notice>
    );
  }
  if (request?.status !== "rejected" || request.reason === WITHDRAWN || isOpen) return null;
  if (request.reason === UNANSWERED) {
    return (
      <Notice kind="warn" title={texts.unanswered}>
        {texts.again}
      </Notice>
    );
  }
  return (
    <Notice kind="warn" title={texts.rejected}>
      {request.reason === "" ? null : <Typed text={request.reason} />}
    </Notice>
  );
}

interface AskProps extends AboutProps {
  readonly onOpened: () => void;
}

function Ask({ rule, isOpen, shown, onOpened }: AskProps) {
  const { max_hours: most, hosts } = rule;
  const [hours, setHours] = useState(String(most));
  const [reason, setReason] = useState("");
  const [left, setLeft] = useState<readonly string[]>([]);
  const [fault, setFault] = useState<"hours" | "reason" | "hosts">();
  const asked = hosts.flatMap(({ name }) => (left.includes(name) ? [] : [name]));
  const sending = useAction(async () => {
    try {
      const some = left.length === 0 ? {} : { hosts: asked };
      const body = { hours: Number(hours), reason: reason.trim(), ...some };
      const answer: AnswerOf<"POST /me/access"> = await api("POST /me/access", { body });
      setReason("");
      if (answer.access === "open") onOpened();
    } finally {
      await forgetAnswers();
    }
  });

  function send() {
    const wrong =
      wholeNumber(hours, most) === undefined
        ? "hours"
        : reason.trim() === ""
          ? "reason"
          : hosts.length > 0 && asked.length === 0
            ? "hosts"
            : undefined;
    setFault(wrong);
    if (wrong === undefined) void sending.run();
  }

  return (
    <Form onSubmit={() => send()}>
      <Area
        label={texts.reason}
        error={fault === "reason" ? texts.reasonFault : undefined}
        value={reason}
        onValue={setReason}
        name="reason"
        maxLength={MAX_PURPOSE}
        rows={2}
        required
      />
      <Input
        label={texts.hours}
        hint={texts.hoursHint(most)}
        error={fault === "hours" ? texts.hoursFault(most) : undefined}
        value={hours}
        onValue={setHours}
        type="number"
        name="hours"
        min={1}
        max={most}
        required
      />
      <HostChoice {...{ hosts, left, shown, onLeft: setLeft, isNone: fault === "hosts" }} />
      <Failure failure={sending.failure} />
      <div class="actions">
        <Button type="submit" kind="primary" busy={sending.busy && texts.asking}>
          {isOpen ? texts.more : texts.ask}
        </Button>
        {isStale(sending.failure) ? <a href={PAGES.login}>{texts.login}</a> : null}
      </div>
    </Form>
  );
}

interface HostChoiceProps extends Pick<AboutProps, "shown"> {
  readonly hosts: OnRequest["hosts"];
  /** The names of those that are left out. */
  readonly left: readonly string[];
  readonly onLeft: (left: readonly string[]) => void;
  readonly isNone: boolean;
}

/** Nothing where there is no choice. */
function HostChoice({ hosts, left, shown, onLeft, isNone }: HostChoiceProps) {
  if (hosts.length < 2) return null;
  return (
    <fieldset class="field">
      <legend>{texts.hosts}</legend>
      {hosts.map(({ name, until }) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={!left.includes(name)}
            onInput={({ currentTarget: { checked } }) =>
              onLeft(checked ? left.filter((other) => other !== name) : [...left, name])
            }
          />
          <span>{until === null ? shown(name) : texts.openHost(shown(name), moment(until))}</span>
        </label>
      ))}
      {isNone ? (
        <p class="error" role="alert">
          {texts.hostsFault}
        </p>
      ) : null}
    </fieldset>
  );
}

function isStale(failure: unknown): boolean {
  return failure instanceof ApiFailure && failure.reason === "access.fresh_login";
}

function End({ label, onDone }: { readonly label: string; readonly onDone?: () => void }) {
  const ending = useAction(async () => {
    try {
      await api("DELETE /me/access");
      onDone?.();
    } finally {
      await forgetAnswers();
    }
  });
  return (
    <>
      <Failure failure={ending.failure} />
      <div class="actions">
        <Button busy={ending.busy && texts.ending} onClick={() => void ending.run()}>
          {label}
        </Button>
      </div>
    </>
  );
}
