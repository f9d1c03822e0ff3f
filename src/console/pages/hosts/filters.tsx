/** The filters of the list of hosts; all of them are in the address. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { hostTexts } from "../../texts/hosts/hosts.ts";
import { Input, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { useTyped } from "../../ui/use-typed.ts";
import { useApi } from "../../use-api.tsx";
import { addressOfHosts, type HostsView, MAX_NAME, readHostsView, STATUSES } from "./view.ts";

export function Filters({ view }: { readonly view: HostsView }) {
  const { route } = useLocation();
  const { filters, state } = hostTexts;
  const groups = useApi("GET /host-groups");
  const names = groups.data?.items.map(({ name }) => name) ?? [];
  // A group of the address stands in the list, also where it is none.
  const [asked] = useState(view.group);
  const known = [...new Set([...names, ...(asked === "" ? [] : [asked])])].sort();
  const q = useTyped(view.q, (value) => route(addressOfHosts({ ...view, q: value, page: 1 }), true));
  function choose(changes: Readonly<Record<string, string>>) {
    const { group, status } = view;
    route(addressOfHosts({ ...readHostsView({ group, status, ...changes }), q: q.value }));
  }
  return (
    <search>
      <Form class="filters people" onSubmit={() => route(addressOfHosts({ ...view, q: q.value, page: 1 }))}>
        <Input
          label={filters.search}
          hint={filters.searchHint}
          type="search"
          maxLength={MAX_NAME}
          autocomplete="off"
          autoCapitalize="none"
          value={q.value}
          onValue={q.type}
        />
        <Select
          label={filters.group}
          value={view.group}
          options={[["", filters.anyGroup], ...known.map((name) => [name, name] as const)]}
          onValue={(group) => choose({ group })}
        />
        <Select
          label={filters.status}
          value={view.status}
          options={STATUSES.map((status) => [status, status === "" ? filters.anyStatus : state[status]])}
          onValue={(status) => choose({ status })}
        />
      </Form>
    </search>
  );
}
