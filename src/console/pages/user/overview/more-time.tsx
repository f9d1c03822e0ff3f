/** Asking for more time, and what became of it. */

import { useState } from "preact/hooks";
import { WITHDRAWN } from "../../../../shared/product/statuses.ts";
import { api, type BodyOf } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { userTexts } from "../../../texts/user/user.ts";
import { wholeNumber } from "../../../typed-text.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { moment, useNow } from "../../../ui/clock.ts";
import { Area, Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Failure, Notice } from "../../../ui/notice.tsx";
import { Section } from "../../../ui/page.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { type DialogProps, useDialog } from "../../../ui/use-dialog.ts";
import { Done } from "../done.tsx";
import type { OwnAccount } from "../own-account.ts";
import { urgencyOf } from "./urgency.ts";

export function MoreTime({ own }: { readonly own: OwnAccount }) {
  const { time } = userTexts;
  const present = useNow();
  const [done, setDone] = useState("");
  const { open, start, props } = useDialog<true>(setDone);
  const isPending = own.extension?.status === "pending";
  return (
    <Section title={time.title}>
      {done === "" ? null : <Done key={done}>{done}</Done>}
      <LastRequest own={own} onWithdraw={() => start(true)} />
      {isPending ? null : own.status === "disabled" ? (
        <p>{time.disabled}</p>
      ) : Date.parse(own.ends.removed_at) <= present ? (
        <p>{time.tooLate}</p>
      ) : (
        <details open={urgencyOf(own, present) !== "far"}>
          <summary>{time.summary}</summary>
          <RequestForm onSent={() => setDone(time.sent)} />
        </details>
      )}
      {open ? <Withdraw {...props} /> : null}
    </Section>
  );
}

function Withdraw({ onClose, onDone }: DialogProps) {
  const { withdraw } = userTexts.time;
  const work = useAction(async () => {
    try {
      await api("DELETE /me/extension");
      onDone(withdraw.done);
    } finally {
      // Refused too: it was decided meanwhile.
      await forgetAnswers();
    }
  });
  return (
    <FormDialog title={withdraw.title} texts={withdraw} {...{ work, onClose }}>
      <p>{withdraw.text}</p>
    </FormDialog>
  );
}

interface LastRequestProps {
  readonly own: OwnAccount;
  readonly onWithdraw: () => void;
}

function LastRequest({ own: { extension }, onWithdraw }: LastRequestProps) {
  const { time } = userTexts;
  if (extension === null || extension.reason === WITHDRAWN) return null;
  const { status, days, created_at, reviewed_at, reason } = extension;
  if (status === "pending") {
    return (
      <Notice kind="info" title={time.pendingTitle}>
        <p>{time.pending(days, moment(created_at))}</p>
        <div class="actions">
          <Button onClick={onWithdraw}>{time.withdraw.open}</Button>
        </div>
      </Notice>
    );
  }
  return (
    <Notice
      kind={status === "approved" ? "good" : "warn"}
      title={status === "approved" ? time.approvedTitle : time.rejectedTitle}
    >
      <p>{time.reviewed(days, moment(reviewed_at ?? created_at))}</p>
      {reason === "" ? null : (
        <p>
          {time.answer} <Typed text={reason} />
        </p>
      )}
    </Notice>
  );
}

const MAX_DAYS = 365;
const MAX_REASON = 1000;

/** The `fields` of a request for more time; `read()` answers with it, undefined for one with a fault, which a field then says. */
export function useMoreTime() {
  const { time } = userTexts;
  const [days, setDays] = useState("30");
  const [reason, setReason] = useState("");
  const [fault, setFault] = useState<"days" | "reason">();
  return {
    fields: (
      <>
        <p>{time.intro}</p>
        <Input
          label={time.days}
          hint={time.daysHint}
          error={fault === "days" ? time.daysFault : undefined}
          value={days}
          onValue={setDays}
          type="number"
          name="days"
          min={1}
          max={MAX_DAYS}
          required
        />
        <Area
          label={time.reason}
          hint={time.reasonHint}
          error={fault === "reason" ? time.reasonFault : undefined}
          value={reason}
          onValue={setReason}
          name="reason"
          maxLength={MAX_REASON}
          rows={3}
          required
        />
      </>
    ),
    read: () => {
      const wrong = wholeNumber(days, MAX_DAYS) !== undefined ? (reason.trim() === "" ? "reason" : undefined) : "days";
      setFault(wrong);
      return wrong === undefined ? { days: Number(days), reason: reason.trim() } : undefined;
    },
  };
}

function RequestForm({ onSent }: { readonly onSent: () => void }) {
  const { time } = userTexts;
  const wanted = useMoreTime();
  const sending = useAction(async (body: BodyOf<"POST /me/extension">) => {
    try {
      await api("POST /me/extension", { body });
      onSent();
    } finally {
      // Refused too: another tab may have asked, or the account may have changed.
      await forgetAnswers();
    }
  });

  function send() {
    const body = wanted.read();
    if (body !== undefined) void sending.run(body);
  }

  return (
    <Form onSubmit={() => send()}>
      {wanted.fields}
      <Failure failure={sending.failure} />
      <div class="actions">
        <Button type="submit" kind="primary" busy={sending.busy && time.sending}>
          {time.send}
        </Button>
      </div>
    </Form>
  );
}
