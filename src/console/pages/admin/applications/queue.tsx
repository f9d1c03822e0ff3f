/** A list of applications, worked through from the top: with keys while it has the focus, or with the buttons of each. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { mayChange } from "../../../roles.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { isSwitchedOff } from "../../../single-keys.ts";
import { applicationTexts } from "../../../texts/admin/applications.ts";
import { announce } from "../../../ui/announce.tsx";
import { Pager } from "../../../ui/table.tsx";
import { useRole } from "../for-role.tsx";
import { type Application, cardId, isOpen } from "./application.ts";
import { ApplicationCard } from "./card.tsx";
import { AllowDialog, ApproveDialog, RejectDialog } from "./decide.tsx";
import { commandOf, moved, nextAfter, sharedNames } from "./keys.ts";
import { type ApplicationsView, addressOf } from "./view.ts";

interface QueueProps {
  readonly items: readonly Application[];
  readonly total: number;
  readonly pageSize: number;
  readonly view: ApplicationsView;
  /** What was decided since the page was opened, the newest first. */
  readonly decided: readonly string[];
  /** Is told what was decided, as a sentence. */
  readonly onDecided: (sentence: string) => void;
  /** What creates the user of an application after all; undefined where nothing does. */
  readonly afterAll: (application: Application) => (() => void) | undefined;
}

interface Deciding {
  readonly application: Application;
  readonly how: "approve" | "reject";
}

function dialogOf({ application, how }: Deciding) {
  if (how === "reject") return RejectDialog;
  return application.kind === "access_request" ? AllowDialog : ApproveDialog;
}

export function Queue({ items, total, pageSize, view, decided, onDecided, afterAll }: QueueProps) {
  const isAllowed = mayChange(useRole(), "applications");
  const [deciding, setDeciding] = useState<Deciding>();
  const { current, setCurrent, moveTo } = useCurrent(items);
  // Above whichever took the focus after the last decision.
  const [below, setBelow] = useState<number>();
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [decided.length]);
  const names = sharedNames(
    items.filter(isOpen).flatMap(({ kind, username }) => (kind === "access" ? [username] : [])),
  );

  function onKeyDown(event: KeyboardEvent) {
    const command = commandOf(event);
    if (command === undefined || current === undefined || isSwitchedOff(event)) return;
    const application = items.find(({ id }) => id === current);
    if (command === "approve" || command === "reject") {
      if (application === undefined || !isAllowed || !isOpen(application)) return;
      setDeciding({ application, how: command });
    } else {
      moveTo(
        moved(
          items.map(({ id }) => id),
          current,
          command,
        ),
      );
    }
    event.preventDefault();
  }

  async function onDone(application: Application, sentence: string) {
    const next = nextAfter(
      items.filter((item) => isOpen(item) || item.id === application.id).map(({ id }) => id),
      application.id,
    );
    await forgetAnswers();
    // At one moment: who reads the sentence can go on with the next one.
    onDecided(sentence);
    setDeciding(undefined);
    setBelow(next);
    moveTo(next);
    announce(next === undefined ? `${sentence} ${applicationTexts.decided.last}` : sentence);
  }

  const Dialog = deciding === undefined ? undefined : dialogOf(deciding);
  const said = decided.length === 0 ? null : <Decided place={place} sentences={decided} />;
  return (
    <div class="stack">
      {items.some(({ id }) => id === below) ? null : said}
      {items.length === 0 ? (
        <Empty view={view} total={total} />
      ) : (
        <p class="quiet">{applicationTexts.order(view.status, total)}</p>
      )}
      <ol class="queue" aria-label={applicationTexts.listLabel} onKeyDown={onKeyDown}>
        {items.map((application) => (
          <ApplicationCard
            key={application.id}
            application={application}
            above={application.id === below ? said : null}
            isCurrent={application.id === current}
            onCurrent={() => setCurrent(application.id)}
            sameName={isOpen(application) && application.kind === "access" ? (names.get(application.username) ?? 1) : 1}
            onDecide={isAllowed && isOpen(application) ? (how) => setDeciding({ application, how }) : undefined}
            onCreate={afterAll(application)}
          />
        ))}
      </ol>
      <Pager {...{ page: view.page, pageSize, total }} href={(page) => addressOf({ ...view, page })} />
      {deciding === undefined || Dialog === undefined ? null : (
        <Dialog
          application={deciding.application}
          onClose={() => setDeciding(undefined)}
          onDone={(sentence) => onDone(deciding.application, sentence)}
        />
      )}
    </div>
  );
}

interface DecidedProps {
  readonly place: RefObject<HTMLElement>;
  readonly sentences: readonly string[];
}

/** The newest decision, and all of them behind it; the announcer has said it. */
function Decided({ place, sentences }: DecidedProps) {
  const { label } = applicationTexts.decided;
  return (
    <section ref={place} class="notice good" aria-label={label}>
      <p>{sentences[0]}</p>
      {sentences.length === 1 ? null : (
        <details>
          <summary>
            {label}: {sentences.length}
          </summary>
          <ul>
            {sentences.map((sentence, index) => (
              <li key={sentences.length - index}>{sentence}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** The application that the keys are about: always one of those that are shown; the first until another one is chosen. */
function useCurrent(items: readonly Application[]) {
  const [chosen, setCurrent] = useState<number>();
  // A page that is opened by its address, as from a mail, has the focus nowhere; there the keys are to work at once.
  const [target, setTarget] = useState<{ readonly id: number | undefined } | undefined>(() =>
    document.activeElement === document.body && items[0] !== undefined ? { id: items[0].id } : undefined,
  );
  // A new object each time: moving to the same one again moves the focus again.
  useLayoutEffect(() => {
    if (target === undefined) return;
    const place = target.id === undefined ? null : document.getElementById(cardId(target.id));
    (place ?? document.querySelector("h1"))?.focus();
  }, [target]);
  const current = items.some(({ id }) => id === chosen) ? chosen : items[0]?.id;
  return {
    current,
    setCurrent,
    /** Makes it the current one and gives it the focus; without one, the heading gets it. */
    moveTo: (id: number | undefined) => {
      setCurrent(id);
      setTarget({ id });
    },
  };
}

function Empty({ view, total }: { readonly view: ApplicationsView; readonly total: number }) {
  const { empty, filters } = applicationTexts;
  // A page past the end is empty too; the pager says so.
  if (total > 0) return null;
  const isFiltered = view.kind !== "all" || view.status !== "pending";
  return (
    <div class="card empty">
      <p>{view.status === "pending" && view.kind === "all" ? empty.queue : empty.filtered}</p>
      {isFiltered ? (
        <a href={addressOf({ status: "pending", kind: "all", page: 1 })}>{filters.drop}</a>
      ) : (
        <p>{empty.hint}</p>
      )}
    </div>
  );
}
