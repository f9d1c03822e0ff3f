/** The filters of the list of users; all of them are in the address. */

import { useLocation } from "preact-iso";
import { useInstallation } from "../../../installation.ts";
import { userListTexts } from "../../../texts/admin/users.ts";
import { common } from "../../../texts/common.ts";
import { Input, Select } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { useTyped } from "../../../ui/use-typed.ts";
import { useApi } from "../../../use-api.tsx";
import { CompanyFilter } from "../../companies/choice.tsx";
import {
  ACCESS_CHOICES,
  addressOfUsers,
  MAX_SEARCH,
  MAX_SPONSOR,
  readUsersView,
  SORTS,
  STATUSES,
  TERMS_CHOICES,
  USES,
  type UsersView,
  WELCOMES,
} from "./view.ts";

/** The id of the names that are suggested. */
const SUPERVISORS = "supervisors";

export function Filters({ view }: { readonly view: UsersView }) {
  const { route } = useLocation();
  const { filters } = userListTexts;
  // Typing replaces the history entry; a choice can be taken back with the back button. What Find has just put behind the # stays.
  const tell = (changes: Partial<typeof view>) =>
    route(addressOfUsers({ ...view, ...changes, page: 1 }) + location.hash, true);
  const q = useTyped(view.q, (value) => tell({ q: value }));
  const supervisor = useTyped(view.supervisor, (value) => tell({ supervisor: value }));
  const sponsor = useTyped(view.sponsor, (value) => tell({ sponsor: value }));
  /** As it is typed, also what has not come into the address yet. */
  const typed = () => ({ q: q.value, supervisor: supervisor.value, sponsor: sponsor.value });
  // Suggestions only: without them the filter is the same.
  const { data } = useApi("GET /users/supervisors", { query: { q: view.supervisor.trim() } });
  function choose(changes: Readonly<Record<string, string>>) {
    const read = readUsersView({ ...view, page: "", ...changes });
    route(addressOfUsers({ ...read, ...typed() }));
  }
  return (
    <search>
      <Form class="filters people" onSubmit={() => route(addressOfUsers({ ...view, ...typed(), page: 1 }))}>
        <Input
          label={filters.search}
          hint={filters.searchHint}
          type="search"
          maxLength={MAX_SEARCH}
          autocomplete="off"
          value={q.value}
          onValue={q.type}
        />
        <Input
          label={filters.supervisor}
          hint={filters.supervisorHint}
          type="search"
          maxLength={MAX_SEARCH}
          autocomplete="off"
          list={SUPERVISORS}
          value={supervisor.value}
          onValue={supervisor.type}
        />
        <CompanyFilter
          id={view.company}
          onId={(company) => route(addressOfUsers({ ...view, ...typed(), company, page: 1 }))}
        />
        <SponsorFilter value={sponsor.value} onValue={sponsor.type} />
        <Select
          label={filters.status}
          value={view.status}
          options={STATUSES.map((status) => [status, status === "" ? filters.anyStatus : common.status[status]])}
          onValue={(status) => choose({ status })}
        />
        <Select
          label={filters.access}
          value={view.access}
          options={ACCESS_CHOICES.map((access) => [access, filters.accesses[access]])}
          onValue={(access) => choose({ access })}
        />
        <Select
          label={filters.use}
          hint={filters.useHint}
          value={view.last_used || view.silent_for}
          options={USES.map((use) => [use, filters.uses[use]])}
          onValue={(use) => choose(use === "never" ? { last_used: use } : { last_used: "", silent_for: use })}
        />
        <WhatWasTold view={view} choose={choose} />
        <Select
          label={filters.sort}
          value={view.sort}
          options={SORTS.map((sort) => [sort, filters.sorts[sort]])}
          onValue={(sort) => choose({ sort })}
        />
      </Form>
      <datalist id={SUPERVISORS}>
        {data?.items.map((known) => (
          <option key={known.supervisor} value={known.supervisor} />
        ))}
      </datalist>
    </search>
  );
}

interface SponsorProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function SponsorFilter(typed: SponsorProps) {
  const { sponsor: label, sponsorHint: hint } = userListTexts.filters;
  return <Input {...{ ...typed, label, hint, maxLength: MAX_SPONSOR }} type="search" autocomplete="off" />;
}

/** What users were sent, and what they accepted. */
function WhatWasTold({
  view,
  choose,
}: {
  readonly view: UsersView;
  readonly choose: (changes: Readonly<Record<string, string>>) => void;
}) {
  const { filters } = userListTexts;
  const hasTerms = useInstallation()?.terms === true || view.terms !== "";
  return (
    <>
      {hasTerms ? (
        <Select
          label={filters.terms}
          value={view.terms}
          options={TERMS_CHOICES.map((terms) => [terms, filters.termsOf[terms]])}
          onValue={(terms) => choose({ terms })}
        />
      ) : null}
      <Select
        label={filters.welcome}
        value={view.welcome}
        options={WELCOMES.map((welcome) => [welcome, filters.welcomes[welcome]])}
        onValue={(welcome) => choose({ welcome })}
      />
    </>
  );
}
