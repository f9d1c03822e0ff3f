/** Extending, disabling or enabling several users, and undoing that: first what it comes to, then one confirmation, then one after the other. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { userPage } from "../../../../shared/product/pages.ts";
import { api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { userTexts } from "../../../texts/admin/user.ts";
import { userListTexts } from "../../../texts/admin/users.ts";
import { common } from "../../../texts/common.ts";
import { confirmedTexts } from "../../../texts/hosts-confirmed.ts";
import { announce } from "../../../ui/announce.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { useUnsaved } from "../../../ui/unsaved.tsx";
import { type Change, isChanged, makeIfUnchanged, makeUndoable, previewChange, undo, type WayBack } from "../change.ts";
import { useReason } from "../reason.tsx";
import { useEnd } from "../user/end-fields.tsx";
import type { UserRecord } from "../user/record.ts";
import { type Bulk, bulkTexts, doneText, undoing } from "./bulk.ts";
import { type Effects, Expected, Failed } from "./bulk-parts.tsx";
import { doneOf, failedOf, type Outcome, oneByOne } from "./one-by-one.ts";

/** What was made of one of them: where it holds on further hosts, as a sentence, and what sets the user back. */
interface Made {
  readonly hosts: string;
  readonly back?: WayBack | undefined;
}

type Outcomes = readonly Outcome<UserRecord, Made>[];

type Phase =
  | { readonly name: "end" }
  | { readonly name: "checking"; readonly reached: number }
  | { readonly name: "ready"; readonly previews: readonly Outcome<UserRecord, Effects>[] }
  | { readonly name: "running"; readonly total: number; readonly outcomes: Outcomes }
  | { readonly name: "over"; readonly total: number; readonly outcomes: Outcomes };

interface BulkDialogProps {
  readonly bulk: Bulk;
  /** Is told what was done, as a sentence, and what undoes it, if anything was begun. */
  readonly onClose: (done?: string, ways?: readonly WayBack[]) => void;
  /** Takes this dialog's place. */
  readonly onUndo: (bulk: Bulk) => void;
}

export function BulkDialog({ bulk, onClose, onUndo }: BulkDialogProps) {
  const { kind, users } = bulk;
  const { checking, stop: stopText } = userListTexts.bulk;
  const texts = bulkTexts(kind);
  const { phase, end, reason, chosen, change, check, run, stop, back } = useBulk(bulk);
  const unsaved = useUnsaved(leave);
  const close = () => (phase.name === "ready" && unsaved.holds() ? undefined : leave());

  function leave() {
    stop();
    if (phase.name === "over") onClose(summaryOf(bulk, phase.outcomes), waysOf(bulk, phase.outcomes));
    else if (phase.name !== "running") onClose();
  }

  return (
    <Dialog title={texts.title(users.length)} onClose={close} onInput={unsaved.onInput}>
      {phase.name === "end" ? <EndForm end={end} onChecked={() => void check()} onClose={close} /> : null}
      {phase.name === "checking" ? (
        <Progress says={checking} reached={phase.reached} total={chosen.length} stop={common.cancel} onStop={close} />
      ) : null}
      {phase.name === "ready" && kind !== "undo" ? (
        <Expected
          {...{ kind, change, onClose: close }}
          later={users.length - chosen.length}
          previews={phase.previews}
          reason={kind === "welcome" ? null : reason.field}
          onBack={back}
          question={unsaved.question}
          onConfirm={() => void run(doneOf(phase.previews).map(({ item }) => item))}
        />
      ) : null}
      {phase.name === "running" ? (
        <Progress
          says={texts.running}
          reached={phase.outcomes.length}
          total={phase.total}
          stop={stopText}
          onStop={close}
        />
      ) : null}
      {phase.name === "over" ? <Over {...{ bulk, phase, onUndo, onClose: close }} /> : null}
    </Dialog>
  );
}

/** First what the change comes to, then the change, of one after the other: where it stands, and what leads on. */
function useBulk(bulk: Bulk) {
  const { kind, users, ways } = bulk;
  const [phase, setPhase] = useState<Phase>(kind === "extend" ? { name: "end" } : { name: "checking", reached: 0 });
  const end = useEnd(userListTexts.bulk.untilHint);
  const reason = useReason();
  const stopped = useRef(false);
  const isStopped = () => stopped.current;
  const stop = () => {
    stopped.current = true;
  };
  const chosen = endingBefore(end.until, users);
  const change: Change | undefined = kind === "disable" || kind === "enable" ? { kind } : end.wanted;
  const work = ways !== undefined ? undoOf(ways) : kind === "welcome" ? WELCOME : change && workOf(change);

  async function check() {
    if (work?.preview === undefined) return;
    setPhase({ name: "checking", reached: 0 });
    const onProgress = ({ length }: readonly unknown[]) => setPhase({ name: "checking", reached: length });
    const previews = await oneByOne(chosen, work.preview, { onProgress, isStopped });
    if (!stopped.current) setPhase({ name: "ready", previews });
  }

  async function run(possible: readonly UserRecord[]) {
    const why = reason.read();
    if (why === undefined || work === undefined) return;
    const total = possible.length;
    setPhase({ name: "running", total, outcomes: [] });
    const outcomes = await oneByOne(possible, (user) => work.make(user, why), {
      onProgress: (outcomes) => setPhase({ name: "running", total, outcomes }),
      isStopped,
    });
    await forgetAnswers();
    setPhase({ name: "over", total, outcomes });
    announce(doneText(bulk, doneOf(outcomes).length));
  }

  useLayoutEffect(() => {
    if (kind === "undo") void run(users);
    else if (kind !== "extend") void check();
    // When the page is left, or the session ends.
    return stop;
  }, []);

  const back = kind === "extend" ? () => setPhase({ name: "end" }) : undefined;
  return { phase, end, reason, chosen, change, check, run, stop, back };
}

/** Those whose end a moment would move; all of them where there is none. A date for several takes nobody's access away sooner. */
function endingBefore(until: string, users: readonly UserRecord[]): readonly UserRecord[] {
  return users.filter(({ status, expire_at }) => until === "" || status === "expired" || expire_at < until);
}

/** What is done to each of them; on return it holds. */
interface Work {
  /** Undefined where nothing is asked before. */
  readonly preview?: (user: UserRecord) => Promise<Effects>;
  readonly make: (user: UserRecord, why: string) => Promise<Made>;
}

const WELCOME: Work = {
  preview: async ({ email }) => ({ effects: [userListTexts.bulk.welcoming.each(email)] }),
  make: async ({ id }) => {
    await api("POST /users/:id/welcome", { params: { id } });
    return { hosts: "" };
  },
};

function workOf(change: Change): Work {
  return {
    preview: ({ id }) => previewChange(id, change),
    // A date brings the end forward of who has been given a later one since.
    make: (user, why) => ("until" in change ? makeIfUnchanged : makeUndoable)(user, change, why),
  };
}

function undoOf(ways: readonly WayBack[]): Work {
  return {
    make: async (item) => {
      const back = ways.find(({ user }) => user === item);
      if (back === undefined) throw new Error("There is no way back for this user");
      return { hosts: await undo(back) };
    },
  };
}

/** What undoes it; of an undo, what is left of that: it was stopped, or failed for another reason than that somebody else changed the user. */
function waysOf({ ways }: Bulk, outcomes: Outcomes): readonly WayBack[] {
  if (ways === undefined) return doneOf(outcomes).flatMap(({ value }) => value.back ?? []);
  const over = outcomes.filter(({ result }) => result.kind === "done" || isChanged(result.failure));
  return ways.filter(({ user }) => !over.some(({ item }) => item === user));
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

function summaryOf(bulk: Bulk, outcomes: Outcomes): string {
  const failed = failedOf(outcomes).length;
  const done = doneText(bulk, doneOf(outcomes).length);
  return failed === 0 ? done : `${done} ${userListTexts.bulk.failed(failed)}.`;
}

interface ProgressProps {
  readonly says: (reached: number, total: number) => string;
  readonly reached: number;
  readonly total: number;
  /** The button that stops it. */
  readonly stop: string;
  readonly onStop: () => void;
}

function Progress({ says, reached, total, stop, onStop }: ProgressProps) {
  const place = useRef<HTMLParagraphElement>(null);
  // The pressed button is gone.
  useEffect(() => place.current?.focus(), []);
  const text = says(reached, total);
  return (
    <div class="stack">
      <p ref={place} tabIndex={-1}>
        {text}
      </p>
      <progress value={reached} max={total} aria-label={text} />
      <div class="actions">
        <Button onClick={onStop}>{stop}</Button>
      </div>
    </div>
  );
}

interface OverProps extends Pick<BulkDialogProps, "bulk" | "onUndo"> {
  readonly phase: Extract<Phase, { readonly name: "over" }>;
  readonly onClose: () => void;
}

function Over({ bulk, phase: { outcomes, total }, onUndo, onClose }: OverProps) {
  const texts = userListTexts.bulk;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  const failed = failedOf(outcomes);
  const done = doneOf(outcomes);
  const late = done.filter(({ value: { hosts } }) => hosts !== "" && hosts !== confirmedTexts.everywhere);
  const ways = waysOf(bulk, outcomes);
  const kept = bulk.ways === undefined ? done.filter(({ value }) => value.back === undefined) : [];
  return (
    <div class="stack" ref={place} tabIndex={-1}>
      <div class={`notice ${failed.length === 0 && outcomes.length === total ? "good" : "warn"}`}>
        <p class="notice-title">{doneText(bulk, done.length)}</p>
        {outcomes.length < total ? <p>{texts.notReached(total - outcomes.length)}</p> : null}
      </div>
      {late.length === 0 ? null : (
        <ul class="notice warn">
          {late.map(({ item, value }) => (
            <li key={item.id}>
              <a href={userPage(item.id)}>{item.username}</a>: {value.hosts}
            </li>
          ))}
        </ul>
      )}
      <Failed title={texts.failed(failed.length)} failed={failed} />
      {ways.length === 0 || kept.length === 0 ? null : (
        <p class="quiet">{texts.noWayBack(kept.map(({ item }) => item.username).join(", "))}</p>
      )}
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          {common.close}
        </Button>
        {ways.length === 0 ? null : <Button onClick={() => onUndo(undoing(ways))}>{userTexts.undo.submit}</Button>}
      </div>
    </div>
  );
}
