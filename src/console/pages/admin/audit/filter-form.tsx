/** The filters of the audit log as a form; what is looked for is in the address, so that it can be sent and gone back to. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { MAX_SEARCH } from "../../../../shared/product/limits.ts";
import { instantOf, localOf } from "../../../local-time.ts";
import type { AuditAction } from "../../../texts/admin/actions.ts";
import { actionTexts } from "../../../texts/admin/actions.ts";
import { auditTexts } from "../../../texts/admin/audit.ts";
import { Button } from "../../../ui/button.tsx";
import { zone } from "../../../ui/clock.ts";
import { Input, Select } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { type AuditFilter, auditHref, FILTERS } from "./filter.ts";

const { filter: texts } = auditTexts;

const ACTIONS: readonly (readonly [string, string])[] = [
  ["", texts.anyAction] as const,
  ...(Object.keys(actionTexts.actions) as AuditAction[]).map(
    (name) => [name, actionTexts.actions[name].label] as const,
  ),
];
const TYPES = [["", texts.anyType] as const, ...Object.entries(texts.types)];
const RESULTS = [["", texts.anyResult] as const, ...Object.entries(texts.results)];

/** The form; rendered anew where the address says something else. */
export function FilterForm({ filter }: { readonly filter: AuditFilter }) {
  const { route } = useLocation();
  const [typed, setTyped] = useState(filter);
  const [userError, setUserError] = useState<string>();
  const set = (name: keyof AuditFilter) => (value: string) => setTyped({ ...typed, [name]: value });
  const inForce = FILTERS.filter((name) => filter[name] !== "").length;
  function show() {
    const isNumber = /^\d*$/.test(typed.user_id.trim());
    setUserError(isNumber ? undefined : texts.userIdError);
    if (isNumber) route(auditHref(typed));
  }
  return (
    <details class="card" open={inForce > 0}>
      <summary>{texts.summary(inForce)}</summary>
      <Form class="filter-form" onSubmit={() => show()}>
        <div class="filters">
          <Input
            label={texts.q}
            hint={texts.qHint}
            type="search"
            name="q"
            value={typed.q}
            onValue={set("q")}
            maxLength={MAX_SEARCH}
          />
          <Input
            label={texts.actor}
            hint={texts.actorHint}
            type="search"
            name="actor"
            value={typed.actor}
            onValue={set("actor")}
            maxLength={128}
          />
          <Select
            label={texts.action}
            name="action"
            value={typed.action}
            onValue={set("action")}
            options={withOwn(ACTIONS, filter.action)}
          />
          <Select label={texts.result} name="result" value={typed.result} onValue={set("result")} options={RESULTS} />
          <Input
            label={texts.user_id}
            hint={texts.userIdHint}
            error={userError}
            type="search"
            name="user_id"
            value={typed.user_id}
            onValue={set("user_id")}
          />
          <Select
            label={texts.resource_type}
            name="resource_type"
            value={typed.resource_type}
            onValue={set("resource_type")}
            options={withOwn(TYPES, filter.resource_type)}
          />
          <Input
            label={texts.resource_id}
            type="search"
            name="resource_id"
            value={typed.resource_id}
            onValue={set("resource_id")}
            maxLength={128}
          />
          <Period typed={typed} set={set} />
        </div>
        <p class="actions">
          <Button type="submit" kind="primary">
            {texts.show}
          </Button>
          {inForce > 0 ? <a href={auditHref({})}>{texts.clear}</a> : null}
        </p>
      </Form>
    </details>
  );
}

interface PeriodProps {
  readonly typed: AuditFilter;
  readonly set: (name: keyof AuditFilter) => (value: string) => void;
}

function Period({ typed, set }: PeriodProps) {
  return (["since", "until"] as const).map((edge) => (
    <Input
      key={edge}
      label={texts[edge]}
      hint={texts.zone(zone())}
      type="datetime-local"
      name={edge}
      value={localOf(typed[edge])}
      onValue={(local) => set(edge)(instantOf(local, edge))}
    />
  ));
}

/** The options, and the value of an address that is none of them, so that the form does not hide what was asked for. */
function withOwn(options: readonly (readonly [string, string])[], value: string) {
  return options.some(([known]) => known === value) ? options : [...options, [value, value] as const];
}
