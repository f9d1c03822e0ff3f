/** A user's open SSH logins, and ending one; and signing them out of the service. */

import { type AnswerOf, api } from "../../../api.ts";
import { mayChange } from "../../../roles.ts";
import { userTexts } from "../../../texts/admin/user.ts";
import { Button } from "../../../ui/button.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Section } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useDialog } from "../../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../../use-api.tsx";
import { Will } from "../effects.tsx";
import { useRole } from "../for-role.tsx";
import type { UserRecord } from "./record.ts";
import { SignOut } from "./sign-out.tsx";
import { useChangeAction } from "./use-change.ts";

type Session = AnswerOf<"GET /users/:id/sessions">["items"][number];

interface SessionsProps {
  readonly user: UserRecord;
  readonly onDone: (sentence: string) => void;
}

export function Sessions({ user, onDone }: SessionsProps) {
  const { sessions } = userTexts;
  const answer = useApi("GET /users/:id/sessions", { params: { id: user.id } });
  const isAllowed = mayChange(useRole(), "users");
  const { open, start, props } = useDialog<Session | "sign out">(onDone);
  return (
    <Section title={sessions.title}>
      <Loaded query={answer}>
        {({ items }) => (
          <div class="stack">
            {items.length === 0 ? (
              <p class="quiet">{sessions.none}</p>
            ) : (
              <Table caption={sessions.title} columns={columnsOf(isAllowed ? start : undefined)} items={items} />
            )}
            <div class="actions">
              <Button onClick={() => void answer.refetch()} busy={answer.isFetching && sessions.refreshing}>
                {sessions.refresh}
              </Button>
              <span class="quiet">{sessions.hint}</span>
              {isAllowed ? (
                <Button kind="danger" onClick={() => start("sign out")}>
                  {userTexts.signOut.open}
                </Button>
              ) : null}
            </div>
          </div>
        )}
      </Loaded>
      {open === "sign out" ? <SignOut user={user} {...props} /> : null}
      {typeof open === "object" ? <EndDialog user={user} session={open} {...props} /> : null}
    </Section>
  );
}

function columnsOf(onEnd: ((session: Session) => void) | undefined): readonly Column<Session>[] {
  const { sessions } = userTexts;
  return [
    { name: sessions.since, isHeader: true, cell: ({ since }) => <Time at={since} both /> },
    { name: sessions.from, cell: ({ from }) => (from === "" ? sessions.unknown : <bdi>{from}</bdi>) },
    { name: sessions.key, cell: ({ key }) => (key === null ? sessions.unknown : <Typed text={key.name} />) },
    ...(onEnd === undefined
      ? []
      : [
          {
            name: sessions.action,
            cell: (session: Session) => (
              <Button kind="danger" aria-label={sessions.endOf(session.from)} onClick={() => onEnd(session)}>
                {sessions.end}
              </Button>
            ),
          },
        ]),
  ];
}

interface EndDialogProps extends SessionsProps {
  readonly session: Session;
  readonly onClose: () => void;
}

function EndDialog({ user, session, onClose, onDone }: EndDialogProps) {
  const { sessions } = userTexts;
  const work = useChangeAction(async () => {
    const params = { id: user.id, sessionId: session.id };
    await api("DELETE /users/:id/sessions/:sessionId", { params });
    onDone(sessions.ended(session.from));
  });
  return (
    <FormDialog title={sessions.endTitle(session.from)} {...{ work, onClose }} texts={sessions} isDanger>
      <Will sentences={[sessions.ends, sessions.again(user.username)]} />
    </FormDialog>
  );
}
