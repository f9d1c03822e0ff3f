/** The keys that were found in an account when it was adopted, while nobody has decided about them. */

import { type AnswerOf, api } from "../../../api.ts";
import { mayChange } from "../../../roles.ts";
import { foundKeyTexts } from "../../../texts/admin/found-keys.ts";
import { Button } from "../../../ui/button.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Section } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { type DialogProps, useDialog } from "../../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../../use-api.tsx";
import { Will } from "../effects.tsx";
import { useRole } from "../for-role.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction } from "./use-change.ts";

type FoundKey = AnswerOf<"GET /users/:id/found-keys">["items"][number];
type Answer = "confirm" | "dismiss";

interface FoundKeysProps {
  readonly user: UserRecord;
  readonly onDone: DialogProps["onDone"];
}

/** Nothing where there is nothing to decide. */
export function FoundKeys({ user, onDone }: FoundKeysProps) {
  const answer = useApi("GET /users/:id/found-keys", { params: { id: user.id } });
  const isAllowed = mayChange(useRole(), "users");
  const { open, start, props } = useDialog<{ readonly answer: Answer; readonly found: FoundKey }>(onDone);
  const waiting = answer.data?.items.filter(({ status }) => status === "found") ?? [];
  if (waiting.length === 0 && answer.error === null) return null;
  return (
    <Section title={foundKeyTexts.title}>
      <Loaded query={answer}>
        {() => (
          <>
            <p>{foundKeyTexts.lead(user.username)}</p>
            <Table
              caption={foundKeyTexts.title}
              columns={columnsOf(isAllowed ? (what, found) => start({ answer: what, found }) : undefined)}
              items={waiting.map((found) => ({ ...found, id: found.fingerprint }))}
            />
          </>
        )}
      </Loaded>
      {open === undefined ? null : <AnswerDialog key={open.answer} {...open} user={user} {...props} />}
    </Section>
  );
}

function columnsOf(onAnswer: ((answer: Answer, found: FoundKey) => void) | undefined): readonly Column<FoundKey>[] {
  const { key, comment, place, action, open, openOf } = foundKeyTexts;
  const button = (answer: Answer, found: FoundKey) => (
    <Button
      kind={answer === "confirm" ? "primary" : undefined}
      aria-label={openOf[answer](found.fingerprint)}
      onClick={() => onAnswer?.(answer, found)}
    >
      {open[answer]}
    </Button>
  );
  return [
    {
      name: key,
      isHeader: true,
      cell: ({ type, fingerprint, options, refusal }) => (
        <div class="event">
          <span>{type}</span>
          <code>{fingerprint}</code>
          {options === "" ? null : (
            <span class="quiet">
              <Typed text={foundKeyTexts.limited(options)} />
            </span>
          )}
          {refusal === "" ? null : <span class="warned">{refusal}</span>}
        </div>
      ),
    },
    { name: comment, cell: (found) => <Typed text={found.comment === "" ? foundKeyTexts.nothing : found.comment} /> },
    {
      name: place,
      cell: ({ found_in }) =>
        found_in === "" ? (
          foundKeyTexts.unknown
        ) : (
          <code>
            <Typed text={found_in} />
          </code>
        ),
    },
    ...(onAnswer === undefined
      ? []
      : [
          {
            name: action,
            cell: (found: FoundKey) => (
              <div class="actions">
                {found.refusal === "" ? button("confirm", found) : null}
                {button("dismiss", found)}
              </div>
            ),
          },
        ]),
  ];
}

interface AnswerDialogProps extends DialogProps {
  readonly user: UserRecord;
  readonly answer: Answer;
  readonly found: FoundKey;
}

/** What the answer does, then the confirmation. */
function AnswerDialog({ user, answer, found, onClose, onDone }: AnswerDialogProps) {
  const { fingerprint, options } = found;
  const texts = foundKeyTexts[answer];
  const work = useChangeAction(async () => {
    const body = { answer, fingerprints: [fingerprint] };
    await api("POST /users/:id/found-keys", { params: { id: user.id }, body });
    onDone(texts.done(fingerprint));
  });
  const { will } = foundKeyTexts;
  const sentences =
    answer === "dismiss"
      ? [will.never, will.upload(user.username)]
      : [
          will.opens(user.username),
          ...(options === "" ? [] : [will.unlimited(options)]),
          will.mail(user.email),
          will.stays,
        ];
  return (
    <FormDialog title={texts.title(fingerprint)} {...{ work, onClose, texts }}>
      <Will sentences={sentences} />
    </FormDialog>
  );
}
