/** Approving and rejecting: what will happen, and the one thing that has to be said. */

import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { hostAccountOf } from "../../../../shared/text/account-name.ts";
import { DAY } from "../../../../shared/time/clock.ts";
import { type AnswerOf, ApiFailure, api } from "../../../api.ts";
import { maySee } from "../../../roles.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { applicationTexts } from "../../../texts/admin/applications.ts";
import { withoutBreaks } from "../../../typed-text.ts";
import { type Action, useAction } from "../../../ui/action.ts";
import { day, endDay, now } from "../../../ui/clock.ts";
import { Area, Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { daysOf, later, wholeDays } from "../days.ts";
import { Will } from "../effects.tsx";
import { useRole } from "../for-role.tsx";
import { usePrefilled } from "../prefilled.ts";
import { useSetting } from "../setting.ts";
import { type Application, approvedEnd, endAfter } from "./application.ts";
import { useBeside } from "./beside.tsx";

interface DecideProps {
  readonly application: Application;
  readonly onClose: () => void;
  /** Is told what was done; the dialog is at work until it resolves. */
  readonly onDone: (sentence: string) => Promise<void>;
}

/** Days that were asked for, or the default, are there already: Enter approves. */
export function ApproveDialog({ application, onClose, onDone }: DecideProps) {
  const { id, kind, username } = application;
  const { approve, done } = applicationTexts;
  const standard = useSetting("policy.default_ttl");
  // Undefined until something is typed: the default may arrive after the dialog has opened.
  const [typed, setTyped] = useState<string>();
  const [creates, setCreates] = useState(true);
  const [error, setError] = useState<string>();
  const beside = useBeside(application);
  const isExtension = kind === "extension";
  const isNew = creates && !isExtension;
  const prefilled = isExtension ? application.days : wholeDays(standard);
  const text = usePrefilled("days", typed, prefilled);
  // Of a company, the default or what it allows, unless somebody says otherwise.
  const days = isNew && typed === undefined && beside.hasCompany ? 0 : daysOf(text);
  const work = useDecision(async () => {
    const isWrong = creates && days === undefined;
    setError(isWrong ? approve.daysWrong : undefined);
    const given = isNew ? await beside.read() : {};
    if (isWrong || given === undefined) return;
    await api("POST /approvals/:id/review", {
      params: { id },
      body: {
        approve: true,
        // The days that were asked for give at most the end that was asked for; others give what they say.
        ...(creates ? { ttl_days: isExtension && days === application.days ? 0 : (days ?? 0) } : {}),
        ...(isExtension ? {} : { create_user: creates }),
        ...given,
      },
    });
    await onDone(isExtension ? done.extended(username) : creates ? done.created(username) : done.approved(username));
  });
  return (
    <FormDialog
      title={isExtension ? approve.titleExtension(username) : approve.title(username)}
      {...{ work, onClose }}
      texts={approve}
      isPossible={!isOver(work.failure)}
    >
      {creates ? (
        <Input
          label={isExtension ? approve.daysMore : approve.days}
          hint={isExtension ? approve.daysMoreHint(application.days ?? 0) : approve.daysHint(wholeDays(standard))}
          error={error}
          value={text}
          onValue={setTyped}
          name="days"
          inputMode="numeric"
          autocomplete="off"
          onFocus={(event) => event.currentTarget.select()}
        />
      ) : null}
      {isNew ? beside.fields : null}
      {isExtension ? null : (
        <label class="check">
          <input type="checkbox" checked={creates} onInput={(event) => setCreates(event.currentTarget.checked)} />
          {approve.create}
        </label>
      )}
      <Effects {...{ application, creates, days }} startsAt={beside.startsAt} />
    </FormDialog>
  );
}

interface EffectsProps {
  readonly application: Application;
  readonly creates: boolean;
  readonly days: number | undefined;
  readonly startsAt: string | undefined;
}

function Effects({ application, creates, days = 0, startsAt }: EffectsProps) {
  const { kind, username, email } = application;
  const { effects } = applicationTexts;
  const present = useExpiry(application.user_id);
  const account = hostAccountOf(username);
  const until = days === 0 ? undefined : day(later(startsAt ?? now(), days * DAY));
  const sentences =
    kind === "extension"
      ? [...extended(application, days, present), effects.mail(email)]
      : creates
        ? [effects.created(account), effects.until(until), effects.mailStart(email)]
        : [effects.notCreated(account), effects.mail(email)];
  return <Will sentences={sentences} />;
}

/** Counted as the service does: from the present end, or from now if that is over. */
function extended(application: Application, typed: number, present: string | undefined): string[] {
  const { effects } = applicationTexts;
  const { username, days: asked } = application;
  const days = typed === 0 ? (asked ?? 0) : typed;
  if (present === undefined) return [effects.extended(username, days)];
  const end = days === asked ? approvedEnd(application, present) : endAfter(present, days);
  return [effects.moved(username, endDay(present), endDay(end))];
}

/** When the user's access ends now; undefined until it is known, for nobody, and where the role may not see users. */
function useExpiry(id: number | null): string | undefined {
  const { data } = useQuery<AnswerOf<"GET /users/:id">, Error>({
    queryKey: ["GET /users/:id", { id }, {}],
    queryFn: ({ signal }) => api("GET /users/:id", { params: { id: id ?? 0 }, signal }),
    enabled: maySee(useRole(), "users") && id !== null,
  });
  return data?.expire_at;
}

/** Access on request: nothing is left to say, and Enter allows. */
export function AllowDialog({ application, onClose, onDone }: DecideProps) {
  const { id, username, email, hours } = application;
  const { allow, effects, done } = applicationTexts;
  const work = useDecision(async () => {
    await api("POST /approvals/:id/review", { params: { id }, body: { approve: true } });
    await onDone(done.allowed(username));
  });
  return (
    <FormDialog title={allow.title(username)} {...{ work, onClose }} texts={allow} isPossible={!isOver(work.failure)}>
      <Will sentences={[effects.allowed(hostAccountOf(username), hours ?? 0), effects.mail(email)]} />
    </FormDialog>
  );
}

/** The reason is mailed to whoever applied; Ctrl and Enter reject. */
export function RejectDialog({ application, onClose, onDone }: DecideProps) {
  const { id, kind, username, email } = application;
  const { reject, effects, done } = applicationTexts;
  const titles = { access: reject.title, extension: reject.titleExtension, access_request: reject.titleRequest };
  const then = { access: effects.noAccount(hostAccountOf(username)), extension: effects.stays(username) };
  const [reason, setReason] = useState("");
  const [error, setError] = useState<string>();
  const work = useDecision(async () => {
    const isMissing = reason.trim() === "";
    setError(isMissing ? reject.reasonMissing : undefined);
    if (isMissing) return;
    await api("POST /approvals/:id/review", { params: { id }, body: { approve: false, reason } });
    await onDone(done.rejected(username));
  });
  return (
    <FormDialog
      title={titles[kind](username)}
      {...{ work, onClose }}
      texts={reject}
      isPossible={!isOver(work.failure)}
      isDanger
    >
      <Area
        label={reject.reason}
        hint={reject.reasonHint}
        error={error}
        value={reason}
        // A line break has no place in a reason: the service refuses it.
        onValue={(value) => setReason(withoutBreaks(value))}
        required
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void work.run();
        }}
      />
      <Will sentences={[{ ...then, access_request: effects.shut(username) }[kind], effects.mailReason(email)]} />
    </FormDialog>
  );
}

/** A decision. Somebody else may have been faster: then the list behind is out of date, and asked for anew. */
function useDecision(work: () => Promise<void>): Action<[]> {
  const action = useAction(async () => {
    try {
      await work();
    } catch (error) {
      if (isOver(error)) void forgetAnswers();
      throw error;
    }
  });
  return { ...action, mayHold: true };
}

/** Whether there is nothing left to decide: somebody has, or the application is gone. */
function isOver(failure: unknown): boolean {
  return failure instanceof ApiFailure && /^application\.(?:missing|reviewed)$/.test(failure.reason);
}
