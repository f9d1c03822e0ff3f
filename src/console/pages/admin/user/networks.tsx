/** From where a user may log in by SSH, and changing that. */

import { api } from "../../../api.ts";
import { networkTexts } from "../../../texts/networks.ts";
import { NetworksDialog } from "../../../ui/networks.tsx";
import type { UserRecord } from "./record.ts";

interface UserNetworksProps {
  readonly user: UserRecord;
  readonly onClose: () => void;
  readonly onDone: (sentence: string) => void;
}

export function UserNetworks({ user, onClose, onDone }: UserNetworksProps) {
  const { user: texts } = networkTexts;
  return (
    <NetworksDialog
      title={texts.title(user.username)}
      hint={texts.hint}
      networks={user.source_networks}
      lifted={texts.lifted}
      note={texts.keys}
      save={(source_networks) => api("PATCH /users/:id", { params: { id: user.id }, body: { source_networks } })}
      onClose={onClose}
      onDone={() => onDone(texts.done(user.username))}
    />
  );
}
