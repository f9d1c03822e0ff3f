/** What needs somebody now: accounts that their owners shut, access that is outstanding, hosts, mail, backups and receivers that fail. */

import type { ComponentChildren } from "preact";
import { PAGES, userPage } from "../../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { maySee } from "../../../roles.ts";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { Loaded, useApi, WATCHED } from "../../../use-api.tsx";
import { useRole } from "../for-role.tsx";
import { toldTimes } from "../told-times.ts";

const { wrong: texts, problems, hosts } = dashboardTexts;

const SHOWN = 10;

type Found = AnswerOf<"GET /admin/attention">;

/** Nothing while all is well. */
export function Wrong({ found }: { readonly found: Found }) {
  const { incidents, mail, backup, receivers } = found;
  if (found.problems === 0) return null;
  return (
    <section class="card urgent" aria-labelledby="wrong">
      <h2 id="wrong">{texts.title}</h2>
      {incidents.total === 0 ? null : <Incidents incidents={incidents} />}
      {found.owed + found.hosts === 0 ? null : <Outstanding />}
      {mail === null ? null : <FailingMail mail={mail} />}
      {backup === null ? null : <OldBackup backup={backup} />}
      {found.sponsors.length === 0 ? null : (
        <Trouble title={texts.sponsors(found.sponsors.length)}>
          <ul>
            {found.sponsors.slice(0, SHOWN).map(({ email, problem }) => (
              <li key={email}>
                <bdi>{email}</bdi>
                {": "}
                <Typed text={problem.replace(/\.?$/, ".")} />
              </li>
            ))}
          </ul>
        </Trouble>
      )}
      {receivers.length === 0 ? null : <Receivers receivers={receivers} />}
      {found.problems === incidents.total ? null : (
        <div class="trouble">
          <p>{texts.doctor}</p>
          <Copyable text="uam doctor" label={texts.doctorLabel} />
        </div>
      )}
    </section>
  );
}

function Trouble({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="trouble">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/** A user's name, as the way to their page for who may see it. */
function Who({ id, username }: { readonly id: number; readonly username: string }) {
  const seesUsers = maySee(useRole(), "users");
  if (username === "") return <strong>{problems.deleted(id)}</strong>;
  return <strong>{seesUsers ? <a href={userPage(id)}>{username}</a> : username}</strong>;
}

function Incidents({ incidents: { total, items } }: Pick<Found, "incidents">) {
  return (
    <Trouble title={texts.incidents(total)}>
      <ul>
        {items.map(({ user_id: id, username, at }) => (
          <li key={id}>
            <Who id={id} username={username} />{" "}
            <span class="quiet">
              <Time at={at} both />
            </span>
          </li>
        ))}
      </ul>
      {total > items.length ? <p>{hosts.more(total - items.length)}</p> : null}
      <p>{texts.incidentAdvice}</p>
    </Trouble>
  );
}

/** Only asked for where there is some. */
function Outstanding() {
  const answer = useApi("GET /admin/problems", { query: { page_size: String(SHOWN) } }, WATCHED);
  return (
    <Loaded query={answer}>
      {({ total, items, hosts: ofHosts }) => (
        <div class="troubles">
          {total === 0 ? null : <Owed total={total} items={items} />}
          {ofHosts === undefined || ofHosts.total === 0 ? null : <HostProblems {...ofHosts} />}
        </div>
      )}
    </Loaded>
  );
}

type Problems = AnswerOf<"GET /admin/problems">;

function Owed({ total, items }: Pick<Problems, "total" | "items">) {
  return (
    <Trouble title={problems.some(total)}>
      <ul>
        {items.map((problem) => (
          <Problem key={problem.id} problem={problem} />
        ))}
      </ul>
      {total > items.length ? <p>{problems.more(total - items.length)}</p> : null}
      <p>{problems.text}</p>
      <Copyable text="uam reconcile" label={problems.command} />
    </Trouble>
  );
}

function Problem({ problem }: { readonly problem: Problems["items"][number] }) {
  const { user_id, username, kind, since, attempts, next_attempt_at, problem: sentence } = problem;
  return (
    <li>
      <Who id={user_id} username={username} />
      {": "}
      {problems.what(problems.kinds[kind])}.{" "}
      {sentence === "" ? problems.underWay : <Typed text={toldTimes(`${sentence}.`)} />}{" "}
      <span class="quiet">
        {problems.since} <Time at={since} />
        {attempts === 0 ? null : `, ${problems.tried(attempts)}`}. {problems.next} <Time at={next_attempt_at} />.
      </span>
    </li>
  );
}

function HostProblems({ total, items }: NonNullable<Problems["hosts"]>) {
  const seesHosts = maySee(useRole(), "hosts");
  const shown = items.slice(0, SHOWN);
  return (
    <Trouble title={hosts.some(total)}>
      <ul>
        {shown.map(({ host, account, kind, text, since }) => (
          <li key={`${host} ${account} ${kind} ${text}`}>
            <strong>{seesHosts ? <a href={`${PAGES.hosts}${searchOf({ q: host })}`}>{host}</a> : host}</strong>
            {account === "" ? "" : `, ${isolated(account)}`}: <Typed text={toldTimes(text.replace(/\.?$/, "."))} />{" "}
            <span class="quiet">
              {problems.since} <Time at={since} />.
            </span>
          </li>
        ))}
      </ul>
      {total > shown.length ? <p>{hosts.more(total - shown.length)}</p> : null}
      {seesHosts ? <a href={PAGES.hosts}>{hosts.all}</a> : null}
    </Trouble>
  );
}

function FailingMail({ mail: { waiting, lost, since, problem } }: { readonly mail: NonNullable<Found["mail"]> }) {
  return (
    <Trouble title={texts.mail}>
      <p>
        {waiting === 0 ? null : texts.mailWaiting(waiting)} {lost === 0 ? null : texts.mailLost(lost)} {texts.mailError}{" "}
        <Typed text={problem.replace(/\.?$/, ".")} />{" "}
        <span class="quiet">
          {problems.since} <Time at={since} />.
        </span>
      </p>
    </Trouble>
  );
}

function OldBackup({ backup: { at, problem } }: { readonly backup: NonNullable<Found["backup"]> }) {
  return (
    <Trouble title={texts.backup}>
      <p>
        {texts.backupOf} <Time at={at} both />. {problem === "" ? texts.backupUntried : texts.backupFailed}{" "}
        {problem === "" ? null : <Typed text={problem.replace(/\.?$/, ".")} />}
      </p>
    </Trouble>
  );
}

function Receivers({ receivers }: Pick<Found, "receivers">) {
  const sees = maySee(useRole(), "webhooks");
  return (
    <Trouble title={texts.receivers(receivers.length)}>
      <ul>
        {receivers.slice(0, SHOWN).map(({ kind, id, name, since, problem }) => (
          <li key={`${kind}${id}`}>
            <Typed text={name} />
            {": "}
            <Typed text={problem.replace(/\.?$/, ".")} />{" "}
            {since === null ? null : (
              <span class="quiet">
                {problems.since} <Time at={since} />.
              </span>
            )}
          </li>
        ))}
      </ul>
      {receivers.length > SHOWN ? <p>{hosts.more(receivers.length - SHOWN)}</p> : null}
      <p>
        {texts.waits} {sees ? <a href={PAGES.webhooks}>{texts.webhooks}</a> : null}
      </p>
    </Trouble>
  );
}
