/** What the list of users is narrowed to; all of it is in the address. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { userListTexts } from "../../../texts/admin-users.ts";
import { common } from "../../../texts/common.ts";
import { Input, Select } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { addressOfUsers, MAX_SEARCH, readUsersView, SORTS, STATUSES, type UsersView } from "./view.ts";

/** Milliseconds without a keystroke after which the service is asked. */
const PAUSE = 300;

export function Filters({ view }: { readonly view: UsersView }) {
  const { route } = useLocation();
  const { filters } = userListTexts;
  // What was typed replaces itself in the history; what was chosen can be taken back with the back button.
  const q = useTyped(view.q, (value) => route(addressOfUsers({ ...view, q: value, page: 1 }), true));
  const supervisor = useTyped(view.supervisor, (value) =>
    route(addressOfUsers({ ...view, supervisor: value, page: 1 }), true),
  );
  function choose(changes: Readonly<Record<string, string>>) {
    const { status, sort } = view;
    const read = readUsersView({ status, sort, ...changes });
    route(addressOfUsers({ ...read, q: q.value, supervisor: supervisor.value }));
  }
  return (
    <search>
      <Form
        class="filters people"
        onSubmit={() => route(addressOfUsers({ ...view, q: q.value, supervisor: supervisor.value, page: 1 }))}
      >
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
          value={supervisor.value}
          onValue={supervisor.type}
        />
        <Select
          label={filters.status}
          value={view.status}
          options={STATUSES.map((status) => [status, status === "" ? filters.anyStatus : common.status[status]])}
          onValue={(status) => choose({ status })}
        />
        <Select
          label={filters.sort}
          value={view.sort}
          options={SORTS.map((sort) => [sort, filters.sorts[sort]])}
          onValue={(sort) => choose({ sort })}
        />
      </Form>
    </search>
  );
}

/** A text that is typed: shown at once, and told when typing pauses. What the address says meanwhile counts if it is another. */
function useTyped(told: string, tell: (value: string) => void) {
  const [value, setValue] = useState(told);
  const [known, setKnown] = useState(told);
  const latest = useRef(tell);
  latest.current = tell;
  if (told !== known) {
    setKnown(told);
    // The back button, or a link: not what was just typed and told.
    if (told !== value) setValue(told);
  }
  useEffect(() => {
    if (value === told) return;
    const timer = setTimeout(() => latest.current(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value, told]);
  return { value, type: setValue };
}
