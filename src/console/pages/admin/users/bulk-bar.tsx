/** Above the list: how many users are selected, and what can be done with them. */

import { useEffect, useRef } from "preact/hooks";
import { userListTexts } from "../../../texts/admin/users.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure } from "../../../ui/notice.tsx";
import type { BulkKind } from "./bulk.ts";
import type { ListedUser } from "./columns.tsx";
import { MOST, type Selection } from "./selection.ts";

interface BulkBarProps {
  readonly selection: Selection;
  /** The users of the page that is shown. */
  readonly items: readonly ListedUser[];
  /** How many match, on all pages. */
  readonly total: number;
  readonly onBulk: (kind: BulkKind, users: readonly ListedUser[]) => void;
}

export function BulkBar({ selection, items, total, onBulk }: BulkBarProps) {
  const { bulk } = userListTexts;
  const selected = selection.users.length;
  const disabled = selection.users.filter(({ status }) => status === "disabled");
  const untold = selection.users.filter(({ welcome, status }) => welcome === "pending" && status === "active");
  const here = items.filter(({ id }) => selection.has(id)).length;
  const place = useRef<HTMLFieldSetElement>(null);
  // The button that was pressed may be gone.
  const stay = () => place.current?.focus();
  const work = useAction(async () => {
    await selection.chooseAll();
    stay();
  });
  return (
    <>
      <fieldset ref={place} tabIndex={-1} class="bulk actions" aria-label={bulk.label}>
        {items.length === 0 ? null : (
          <WholePage {...{ here, shown: items.length }} onAll={(isOn) => selection.choose(items, isOn)} />
        )}
        <span role="status" class={selected === 0 ? "quiet" : ""}>
          {selected === 0 ? bulk.hint : bulk.selected(selected, selection.pages, here > 0)}
        </span>
        {total > items.length && selected < total ? (
          total > MOST ? (
            <span class="quiet">{bulk.most(MOST)}</span>
          ) : (
            <Button busy={work.busy && bulk.selecting} onClick={() => void work.run()}>
              {bulk.allMatching(total)}
            </Button>
          )
        ) : null}
        {selected === 0 ? null : (
          <>
            <Button onClick={() => onBulk("extend", selection.users)}>{bulk.extending.open(selected)}</Button>
            {untold.length === 0 ? null : (
              <Button onClick={() => onBulk("welcome", untold)}>{bulk.welcoming.open(untold.length)}</Button>
            )}
            {disabled.length === 0 ? null : (
              <Button onClick={() => onBulk("enable", disabled)}>{bulk.enabling.open(disabled.length)}</Button>
            )}
            <Button kind="danger" onClick={() => onBulk("disable", selection.users)}>
              {bulk.disabling.open(selected)}
            </Button>
            <Button
              onClick={() => {
                selection.clear();
                stay();
              }}
            >
              {bulk.clear}
            </Button>
          </>
        )}
      </fieldset>
      <Failure failure={work.failure} />
    </>
  );
}

interface WholePageProps {
  readonly here: number;
  readonly shown: number;
  readonly onAll: (isOn: boolean) => void;
}

function WholePage({ here, shown, onAll }: WholePageProps) {
  const all = useRef<HTMLInputElement>(null);
  const isAll = here === shown;
  useEffect(() => {
    // No attribute says it: some, not all.
    if (all.current !== null) all.current.indeterminate = here > 0 && !isAll;
  }, [here, isAll]);
  return (
    <label class="check">
      <input ref={all} type="checkbox" checked={isAll} onInput={(event) => onAll(event.currentTarget.checked)} />
      {userListTexts.bulk.all(shown)}
    </label>
  );
}
