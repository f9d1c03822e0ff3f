/** One's own passkeys: what they are called, when they were used, and how to add, rename and remove them. */

import { hasPasskeys } from "../../../passkey.ts";
import { factorsTexts } from "../../../texts/admin/factors.ts";
import { Button } from "../../../ui/button.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Section } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useDialog } from "../../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../../use-api.tsx";
import { Done, useDone } from "../done.tsx";
import { AddPasskey } from "./add-passkey.tsx";
import { type Passkey, RemovePasskey, RenamePasskey } from "./change-passkey.tsx";

const { passkeys: texts, rename, remove } = factorsTexts;

type Open = { readonly what: "add" } | { readonly what: "rename" | "remove"; readonly passkey: Passkey };

export function Passkeys() {
  const answer = useApi("GET /auth/passkeys");
  const done = useDone();
  const { open, start: show, props: dialog } = useDialog<Open>(done.tell);
  const start = (next: Open) => {
    done.clear();
    show(next);
  };
  return (
    <Section title={texts.title}>
      <p>{texts.lead}</p>
      <Done what={done.what} />
      <Loaded query={answer}>
        {({ items }) => (
          <>
            {items.length === 0 ? (
              <p class="empty">{texts.empty}</p>
            ) : (
              <div class="table">
                <Table caption={texts.caption} columns={columnsFor(start)} items={items} />
              </div>
            )}
            {open?.what === "add" ? <AddPasskey {...dialog} /> : null}
          </>
        )}
      </Loaded>
      {hasPasskeys() ? (
        <p class="actions">
          <Button onClick={() => start({ what: "add" })}>{texts.add}</Button>
        </p>
      ) : (
        <p class="hint">{texts.unable}</p>
      )}
      {open?.what === "rename" ? <RenamePasskey {...dialog} passkey={open.passkey} /> : null}
      {open?.what === "remove" ? <RemovePasskey {...dialog} passkey={open.passkey} /> : null}
    </Section>
  );
}

function columnsFor(onOpen: (open: Open) => void): readonly Column<Passkey>[] {
  const { columns } = texts;
  return [
    {
      name: columns.name,
      isHeader: true,
      cell: ({ name, backed_up }) => (
        <div>
          <Typed text={name} />
          {backed_up ? <p class="hint">{texts.backedUp}</p> : null}
        </div>
      ),
    },
    { name: columns.added, cell: ({ created_at: at }) => <Time at={at} /> },
    { name: columns.used, cell: ({ last_used_at: at }) => (at === null ? texts.never : <Time at={at} />) },
    {
      name: columns.act,
      cell: (passkey) => (
        <span class="actions">
          <Button
            aria-label={rename.openOf(isolated(passkey.name))}
            onClick={() => onOpen({ what: "rename", passkey })}
          >
            {rename.open}
          </Button>
          <Button
            kind="danger"
            aria-label={remove.openOf(isolated(passkey.name))}
            onClick={() => onOpen({ what: "remove", passkey })}
          >
            {remove.open}
          </Button>
        </span>
      ),
    },
  ];
}
