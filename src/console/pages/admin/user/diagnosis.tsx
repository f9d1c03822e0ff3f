/** Whether the user can log in now: yes, or no with each cause and what to do, and sshd's own words about refused logins. */

import type { AnswerOf } from "../../../api.ts";
import { diagnosisTexts as texts } from "../../../texts/admin/diagnosis.ts";
import { Button } from "../../../ui/button.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { Loaded, useApi } from "../../../use-api.tsx";
import { toldTimes } from "../told-times.ts";
import type { UserRecord } from "./record.ts";

type Found = AnswerOf<"GET /users/:id/diagnosis">;

export function Diagnosis({ user: { id, username } }: { readonly user: UserRecord }) {
  const answer = useApi("GET /users/:id/diagnosis", { params: { id } }, false);
  return (
    <Section title={texts.title}>
      <Loaded query={answer}>
        {({ can, because, refused, log }) => (
          <div class="stack">
            <Notice kind={can ? "good" : "warn"} title={can ? texts.yes(username, because.length) : texts.no(username)}>
              <Causes because={because} />
            </Notice>
            <Refused refused={refused} log={log} />
            <div class="actions">
              <Button onClick={() => void answer.refetch()} busy={answer.isFetching && texts.refreshing}>
                {texts.refresh}
              </Button>
              <span class="quiet">{texts.hint}</span>
            </div>
          </div>
        )}
      </Loaded>
    </Section>
  );
}

function Causes({ because }: Pick<Found, "because">) {
  if (because.length === 0) return null;
  return (
    <ul class="causes">
      {because.map(({ reason, text, remedy }) => (
        <li key={`${reason} ${text}`}>
          <Typed text={toldTimes(`${text}.`)} />
          <p class="quiet">
            <Typed text={texts.remedy(remedy)} />
          </p>
        </li>
      ))}
    </ul>
  );
}

function Refused({ refused, log }: Pick<Found, "refused" | "log">) {
  return (
    <>
      <h3>{texts.refused}</h3>
      {refused.length === 0 ? null : (
        <ul class="causes">
          {refused.map(({ at, from, why }) => (
            <li key={`${at} ${from} ${why}`}>
              <Time at={at} both /> {from === "" ? null : texts.from(from)}
              <p class="quiet">
                <Typed text={texts.quoted(why)} />
              </p>
            </li>
          ))}
        </ul>
      )}
      <p class="quiet">
        {log.read && refused.length === 0 ? `${texts.none} ` : null}
        <Typed text={toldTimes(`${log.text}.`)} />
      </p>
    </>
  );
}
