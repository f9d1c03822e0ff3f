/** A user's SSH keys, and taking one away. */

import { type AnswerOf, api } from "../../../api.ts";
import { mayChange } from "../../../roles.ts";
import { userTexts } from "../../../texts/admin/user.ts";
import { Button } from "../../../ui/button.tsx";
import { withHosts } from "../../../ui/confirmed.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { KeyNetworks } from "../../../ui/networks.tsx";
import { Section } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useDialog } from "../../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../../use-api.tsx";
import { Will } from "../effects.tsx";
import { useRole } from "../for-role.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction } from "./use-change.ts";

type Key = AnswerOf<"GET /users/:id/keys">["items"][number];

interface KeysProps {
  readonly user: UserRecord;
  readonly onDone: (sentence: string) => void;
}

export function Keys({ user, onDone }: KeysProps) {
  const { keys } = userTexts;
  const answer = useApi("GET /users/:id/keys", { params: { id: user.id } });
  const isAllowed = mayChange(useRole(), "users");
  const { open, start, props } = useDialog<{ readonly sshKey: Key; readonly isLast: boolean }>(onDone);
  return (
    <Section title={keys.title}>
      <Loaded query={answer}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">{keys.none(user.username)}</p>
          ) : (
            <Table
              caption={keys.title}
              columns={columnsOf(isAllowed ? (key) => start({ sshKey: key, isLast: items.length === 1 }) : undefined)}
              items={items}
            />
          )
        }
      </Loaded>
      {open === undefined ? null : <RemoveDialog {...open} user={user} {...props} />}
    </Section>
  );
}

function columnsOf(onRemove: ((key: Key) => void) | undefined): readonly Column<Key>[] {
  const { keys } = userTexts;
  return [
    { name: keys.name, isHeader: true, cell: ({ name }) => <Typed text={name} /> },
    {
      name: keys.key,
      cell: ({ type, bits, fingerprint, model, aaguid, source_networks }) => (
        <div class="event">
          <span>{keys.kind(type, bits)}</span>
          <code>{fingerprint}</code>
          {model === null ? null : <span class="quiet">{keys.model(model, aaguid ?? "")}</span>}
          <KeyNetworks networks={source_networks} />
        </div>
      ),
    },
    { name: keys.added, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      name: keys.used,
      cell: ({ last_used_at, last_used_from }) =>
        last_used_at === null ? (
          keys.neverUsed
        ) : (
          <span>
            <Time at={last_used_at} /> {last_used_from === "" ? null : keys.from(last_used_from)}
          </span>
        ),
    },
    ...(onRemove === undefined
      ? []
      : [
          {
            name: keys.action,
            cell: (key: Key) => (
              <Button kind="danger" aria-label={keys.removeOf(isolated(key.name))} onClick={() => onRemove(key)}>
                {keys.remove}
              </Button>
            ),
          },
        ]),
  ];
}

interface RemoveDialogProps extends KeysProps {
  readonly sshKey: Key;
  readonly isLast: boolean;
  readonly onClose: () => void;
}

/** The effects of the key's end, then the confirmation. */
function RemoveDialog({ user, sshKey, isLast, onClose, onDone }: RemoveDialogProps) {
  const { keys } = userTexts;
  const name = isolated(sshKey.name);
  const work = useChangeAction(async () => {
    const answer = await api("DELETE /users/:id/keys/:keyId", { params: { id: user.id, keyId: sshKey.id } });
    onDone(withHosts(keys.removed(name), answer));
  });
  return (
    <FormDialog title={keys.removeTitle(name)} {...{ work, onClose }} texts={keys} isDanger>
      <Will
        sentences={[keys.stops, keys.sessions, isLast ? keys.last(user.username) : keys.others, keys.mail(user.email)]}
      />
    </FormDialog>
  );
}
