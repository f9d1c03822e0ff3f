/** Extending or disabling several users: first what it comes to, then one confirmation, then one after the other. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { userPage } from "../../../../shared/product/pages.ts";
import { api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { userListTexts } from "../../../texts/admin/users.ts";
import { common } from "../../../texts/common.ts";
import { confirmedTexts } from "../../../texts/hosts-confirmed.ts";
import { announce } from "../../../ui/announce.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { useUnsaved } from "../../../ui/unsaved.tsx";
import { type Change, makeChange, previewChange } from "../change.ts";
import { useReason } from "../reason.tsx";
import { useEnd } from "../user/end-fields.tsx";
import type { UserRecord } from "../user/record.ts";
import { type BulkKind, bulkTexts } from "./bulk.ts";
import { type Effects, Expected, Failed } from "./bulk-parts.tsx";
import { doneOf, failedOf, type Outcome, oneByOne } from "./one-by-one.ts";

type Phase =
  | { readonly name: "end" }
  | { readonly name: "checking"; readonly reached: number }
  | { readonly name: "ready"; readonly previews: readonly Outcome<UserRecord, Effects>[] }
  | { readonly name: "running"; readonly total: number; readonly outcomes: readonly Outcome<UserRecord, string>[] }
  | { readonly name: "over"; readonly total: number; readonly outcomes: readonly Outcome<UserRecord, string>[] };

interface BulkDialogProps {
  readonly kind: BulkKind;
  readonly users: readonly UserRecord[];
  /** Is told what was done, as a sentence, if anything was begun. */
  readonly onClose: (done?: string) => void;
}

export function BulkDialog({ kind, users, onClose }: BulkDialogProps) {
  const { bulk } = userListTexts;
  const texts = bulkTexts(kind);
  const [phase, setPhase] = useState<Phase>(kind === "extend" ? { name: "end" } : { name: "checking", reached: 0 });
  const end = useEnd(bulk.untilHint);
  const reason = useReason();
  const stopped = useRef(false);
  const chosen = endingBefore(end.until, users);
  const change: Change | undefined = kind === "disable" ? { kind } : end.wanted;
  const work = kind === "welcome" ? WELCOME : change && workOf(change);

  async function check() {
    if (work === undefined) return;
    setPhase({ name: "checking", reached: 0 });
    const previews = await oneByOne(chosen, work.preview, {
      onProgress: ({ length }) => setPhase({ name: "checking", reached: length }),
      isStopped: () => stopped.current,
    });
    if (!stopped.current) setPhase({ name: "ready", previews });
  }

  async function run(chosen: readonly UserRecord[]) {
    const why = reason.read();
    if (why === undefined || work === undefined) return;
    const total = chosen.length;
    setPhase({ name: "running", total, outcomes: [] });
    const outcomes = await oneByOne(chosen, (user) => work.make(user, why), {
      onProgress: (outcomes) => setPhase({ name: "running", total, outcomes }),
      isStopped: () => stopped.current,
    });
    await forgetAnswers();
    setPhase({ name: "over", total, outcomes });
    announce(texts.done(doneOf(outcomes).length));
  }

  useEffect(() => {
    if (kind !== "extend") void check();
    // Stops when the page is left, or the session ends.
    return () => {
      stopped.current = true;
    };
  }, []);

  const unsaved = useUnsaved(leave);
  const close = () => (phase.name === "ready" && unsaved.holds() ? undefined : leave());

  function leave() {
    stopped.current = true;
    if (phase.name === "over") onClose(summaryOf(kind, phase.outcomes));
    else if (phase.name !== "running") onClose();
  }

  return (
    <Dialog title={texts.title(users.length)} onClose={close} onInput={unsaved.onInput}>
      {phase.name === "end" ? <EndForm end={end} onChecked={() => void check()} onClose={close} /> : null}
      {phase.name === "checking" ? (
        <Progress text={bulk.checking(phase.reached, chosen.length)} reached={phase.reached} total={chosen.length}>
          <Button onClick={close}>{common.cancel}</Button>
        </Progress>
      ) : null}
      {phase.name === "ready" ? (
        <Expected
          {...{ kind, change, onClose: close }}
          later={users.length - chosen.length}
          previews={phase.previews}
          reason={kind === "welcome" ? null : reason.field}
          onBack={kind === "extend" ? () => setPhase({ name: "end" }) : undefined}
          question={unsaved.question}
          onConfirm={() => void run(doneOf(phase.previews).map(({ item }) => item))}
        />
      ) : null}
      {phase.name === "running" ? (
        <Progress
          text={texts.running(phase.outcomes.length, phase.total)}
          reached={phase.outcomes.length}
          total={phase.total}
        >
          <Button onClick={close}>{bulk.stop}</Button>
        </Progress>
      ) : null}
      {phase.name === "over" ? <Over kind={kind} phase={phase} onClose={close} /> : null}
    </Dialog>
  );
}

/** Those whose end a moment would move; all of them where there is none. A date for several takes nobody's access away sooner. */
function endingBefore(until: string, users: readonly UserRecord[]): readonly UserRecord[] {
  return users.filter(({ status, expire_at }) => until === "" || status === "expired" || expire_at < until);
}

/** What is done to each of them; on return it holds, on further hosts as the sentence says. */
interface Work {
  readonly preview: (user: UserRecord) => Promise<Effects>;
  readonly make: (user: UserRecord, why: string) => Promise<string>;
}

const WELCOME: Work = {
  preview: async ({ email }) => ({ effects: [userListTexts.bulk.welcoming.each(email)] }),
  make: async ({ id }) => {
    await api("POST /users/:id/welcome", { params: { id } });
    return "";
  },
};

function workOf(change: Change): Work {
  return {
    preview: ({ id }) => previewChange(id, change),
    make: ({ id }, why) => makeChange(id, change, why),
  };
}

interface EndFormProps {
  readonly end: ReturnType<typeof useEnd>;
  /** Called with an end that can be used. */
  readonly onChecked: () => void;
  readonly onClose: () => void;
}

function EndForm({ end, onChecked, onClose }: EndFormProps) {
  return (
    <Form onSubmit={() => (end.isWhole() ? onChecked() : undefined)}>
      {end.fields}
      <div class="actions">
        <Button type="submit" kind="primary">
          {userListTexts.bulk.check}
        </Button>
        <Button onClick={onClose}>{common.cancel}</Button>
      </div>
    </Form>
  );
}

function summaryOf(kind: BulkKind, outcomes: readonly Outcome<UserRecord, string>[]): string {
  const { bulk } = userListTexts;
  const failed = failedOf(outcomes).length;
  const done = bulkTexts(kind).done(doneOf(outcomes).length);
  return failed === 0 ? done : `${done} ${bulk.failed(failed)}.`;
}

interface ProgressProps {
  readonly text: string;
  readonly reached: number;
  readonly total: number;
  readonly children: ComponentChildren;
}

function Progress({ text, reached, total, children }: ProgressProps) {
  const place = useRef<HTMLParagraphElement>(null);
  // The pressed button is gone.
  useEffect(() => place.current?.focus(), []);
  return (
    <div class="stack">
      <p ref={place} tabIndex={-1}>
        {text}
      </p>
      <progress value={reached} max={total} aria-label={text} />
      <div class="actions">{children}</div>
    </div>
  );
}

interface OverProps {
  readonly kind: BulkKind;
  readonly phase: Extract<Phase, { readonly name: "over" }>;
  readonly onClose: () => void;
}

function Over({ kind, phase: { outcomes, total }, onClose }: OverProps) {
  const { bulk } = userListTexts;
  const texts = bulkTexts(kind);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  const failed = failedOf(outcomes);
  const late = doneOf(outcomes).filter(({ value }) => value !== "" && value !== confirmedTexts.everywhere);
  return (
    <div class="stack" ref={place} tabIndex={-1}>
      <div class={`notice ${failed.length === 0 && outcomes.length === total ? "good" : "warn"}`}>
        <p class="notice-title">{texts.done(doneOf(outcomes).length)}</p>
        {outcomes.length < total ? <p>{bulk.notReached(total - outcomes.length)}</p> : null}
      </div>
      {late.length === 0 ? null : (
        <ul class="notice warn">
          {late.map(({ item, value }) => (
            <li key={item.id}>
              <a href={userPage(item.id)}>{item.username}</a>: {value}
            </li>
          ))}
        </ul>
      )}
      <Failed title={bulk.failed(failed.length)} failed={failed} />
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          {common.close}
        </Button>
      </div>
    </div>
  );
}
