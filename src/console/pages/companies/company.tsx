/** One company: what it allows, its people, its end. */

import { useLocation, useRoute } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { ApiFailure, searchOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { companyTexts as texts } from "../../texts/companies/companies.ts";
import { Button } from "../../ui/button.tsx";
import { withHosts } from "../../ui/confirmed.ts";
import { NetworkList } from "../../ui/networks.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done, useDone } from "../admin/done.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { ChangeLimit, DeleteCompany, EndCompany, ResumeCompany } from "./changes.tsx";
import { CompanyStatus } from "./companies.tsx";
import { type CompanyField, FIELDS, type Company as Shown, textOf } from "./fields.tsx";

export const Company = signedIn("admin", forRole("users", CompanyPage));

/** What is under way is usually done soon. */
const WATCHED = 5000;

/** Each company has a page of its own: nothing of the one before stays. */
function CompanyPage() {
  const id = Number(useRoute().params.id ?? 0);
  return <One key={id} id={id} />;
}

function One({ id }: { readonly id: number }) {
  const company = useApi("GET /companies/:id", { params: { id } }, WATCHED);
  const isGone = company.error instanceof ApiFailure && company.error.status === 404;
  const done = useDone();
  const back = (
    <a class="button" href={PAGES.companies}>
      {texts.all}
    </a>
  );
  return (
    <Page title={isGone ? texts.gone.title(id) : (company.data?.name ?? texts.one)} actions={back}>
      <ReadOnly area="users" />
      <Done what={done.what} />
      {isGone ? (
        <p>{texts.gone.text}</p>
      ) : (
        <Loaded query={company}>
          {(data) => (
            <div class="stack">
              {data.status === "active" ? null : <Progress company={data} />}
              {data.narrowing ? (
                <Notice kind="warn">
                  <p>{texts.narrowing}</p>
                </Notice>
              ) : null}
              <Overview
                company={data}
                onDone={(sentence) => {
                  done.tell(sentence);
                  void forgetAnswers();
                }}
              />
            </div>
          )}
        </Loaded>
      )}
    </Page>
  );
}

/** How far the end is; it goes on whoever looks at it. */
function Progress({ company: { id, status } }: { readonly company: Shown }) {
  const { progress } = texts;
  const isEnding = status === "ending";
  return (
    <Loaded query={useApi("GET /companies/:id/end", { params: { id } }, WATCHED)}>
      {(answer) => {
        const { total, closed, owed } = answer.users;
        return (
          <Notice kind={isEnding ? "warn" : "info"} title={isEnding ? progress.ending : progress.ended}>
            <p>{withHosts(progress.closed(closed, total), answer)}</p>
            {owed === 0 ? null : <p>{progress.owed(owed)}</p>}
            <p>{progress.refused}</p>
          </Notice>
        );
      }}
    </Loaded>
  );
}

interface OverviewProps {
  readonly company: Shown;
  readonly onDone: (sentence: string) => void;
}

function Overview({ company, onDone }: OverviewProps) {
  const { route } = useLocation();
  const { change } = texts;
  const isAllowed = mayChange(useRole(), "users");
  const { open, start, props } = useDialog<CompanyField | "end" | "resume" | "remove">(onDone);
  const dialog = { company, ...props };
  return (
    <section class="card" aria-label={texts.one}>
      <dl class="facts">
        <dt>{texts.columns.status}</dt>
        <dd>
          <CompanyStatus status={company.status} />
        </dd>
        <dt>{texts.columns.users}</dt>
        <dd>
          <a href={`${PAGES.users}${searchOf({ company: company.id })}`}>
            {texts.users(company.users, company.max_users)}
          </a>
        </dd>
        {FIELDS.map((field) => (
          <>
            <dt>{texts.fields[field].label}</dt>
            <dd class="record">
              <Value company={company} field={field} />
              {isAllowed ? (
                <Button aria-label={change.of(texts.fields[field].label)} onClick={() => start(field)}>
                  {change.open}
                </Button>
              ) : null}
            </dd>
          </>
        ))}
      </dl>
      {isAllowed ? (
        <div class="actions">
          {company.status === "active" ? (
            <Button kind="danger" onClick={() => start("end")}>
              {texts.end.open}
            </Button>
          ) : (
            <Button onClick={() => start("resume")}>{texts.resume.open}</Button>
          )}
          <Button kind="danger" onClick={() => start("remove")}>
            {texts.remove.open}
          </Button>
        </div>
      ) : null}
      {open === undefined ? null : open === "end" ? (
        <EndCompany {...dialog} />
      ) : open === "resume" ? (
        <ResumeCompany {...dialog} />
      ) : open === "remove" ? (
        <DeleteCompany {...dialog} onDone={() => route(PAGES.companies)} />
      ) : (
        <ChangeLimit {...dialog} field={open} />
      )}
    </section>
  );
}

function Value({ company, field }: { readonly company: Shown; readonly field: CompanyField }) {
  const value = company[field];
  const { none } = texts.fields[field];
  if (Array.isArray(value)) return <NetworkList networks={value} none={none} />;
  if (value === null || value === "") return <span class="quiet">{none}</span>;
  return field === "contract_end" ? <Time at={String(value)} isEnd /> : <bdi>{textOf(field, value)}</bdi>;
}
