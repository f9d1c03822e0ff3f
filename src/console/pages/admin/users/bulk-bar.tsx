/** Above the list: how many users are chosen, and what can be done with them. */

import { useEffect, useRef } from "preact/hooks";
import { userListTexts } from "../../../texts/admin/users.ts";
import { Button } from "../../../ui/button.tsx";
import type { BulkKind } from "./bulk.ts";

interface BulkBarProps {
  readonly selected: number;
  readonly shown: number;
  readonly onAll: (isOn: boolean) => void;
  readonly onBulk: (kind: BulkKind) => void;
}

export function BulkBar({ selected, shown, onAll, onBulk }: BulkBarProps) {
  const { bulk } = userListTexts;
  const all = useRef<HTMLInputElement>(null);
  const isAll = selected === shown;
  useEffect(() => {
    // No attribute says it: some, not all.
    if (all.current !== null) all.current.indeterminate = selected > 0 && !isAll;
  }, [selected, isAll]);
  return (
    <fieldset class="bulk actions" aria-label={bulk.label}>
      <label class="check">
        <input ref={all} type="checkbox" checked={isAll} onInput={(event) => onAll(event.currentTarget.checked)} />
        {bulk.all(shown)}
      </label>
      {selected === 0 ? (
        <span class="quiet">{bulk.hint}</span>
      ) : (
        <>
          <Button onClick={() => onBulk("extend")}>{bulk.extend(selected)}</Button>
          <Button kind="danger" onClick={() => onBulk("disable")}>
            {bulk.disable(selected)}
          </Button>
        </>
      )}
    </fieldset>
  );
}
