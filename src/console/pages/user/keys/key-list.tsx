/** The keys as a table. */

import { networkTexts } from "../../../texts/networks.ts";
import { userTexts } from "../../../texts/user/user.ts";
import { Button } from "../../../ui/button.tsx";
import { KeyNetworks } from "../../../ui/networks.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import type { OwnKey } from "../own-account.ts";

interface KeyListProps {
  readonly keys: readonly OwnKey[];
  readonly onRename: (key: OwnKey) => void;
  readonly onNetworks: (key: OwnKey) => void;
  readonly onRevoke: (key: OwnKey) => void;
}

export function KeyList({ keys, onRename, onNetworks, onRevoke }: KeyListProps) {
  const { keys: texts } = userTexts;
  return (
    <div class="table">
      <Table
        caption={texts.caption}
        items={keys}
        columns={[
          { name: texts.name, cell: ({ name }) => <Typed text={name} />, isHeader: true },
          {
            name: texts.key,
            cell: ({ type, bits, fingerprint, model, source_networks }) => (
              <div class="event">
                <span>{texts.typeOf(type, bits)}</span>
                <code>{fingerprint}</code>
                {model === null ? null : <span class="quiet">{texts.proof.model(model)}</span>}
                <KeyNetworks networks={source_networks} />
              </div>
            ),
          },
          { name: texts.created, cell: ({ created_at }) => <Time at={created_at} /> },
          { name: texts.used, cell: (key) => <LastUse {...key} /> },
          {
            name: texts.change,
            cell: (key) => (
              <div class="actions">
                <Button aria-label={texts.rename.label(key.name)} aria-haspopup="dialog" onClick={() => onRename(key)}>
                  {texts.rename.button}
                </Button>
                <Button
                  aria-label={networkTexts.key.label(key.name)}
                  aria-haspopup="dialog"
                  onClick={() => onNetworks(key)}
                >
                  {networkTexts.key.button}
                </Button>
                <Button
                  kind="danger"
                  aria-label={texts.revoke.label(key.name)}
                  aria-haspopup="dialog"
                  onClick={() => onRevoke(key)}
                >
                  {texts.revoke.button}
                </Button>
              </div>
            ),
          },
        ]}
      />
    </div>
  );
}

function LastUse({ last_used_at, last_used_from }: OwnKey) {
  const { never, from } = userTexts.keys;
  if (last_used_at === null) return <span class="quiet">{never}</span>;
  return (
    <div class="event">
      <Time at={last_used_at} />
      {last_used_from === "" ? null : <span class="quiet">{from(last_used_from)}</span>}
    </div>
  );
}
