/** From where a user may log in by SSH, and changing that. */

import { api } from "../../../api.ts";
import { networkTexts } from "../../../texts/networks.ts";
import { withHosts } from "../../../ui/confirmed.ts";
import { NetworksDialog } from "../../../ui/networks.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import type { UserRecord } from "./record.ts";

interface UserNetworksProps extends DialogProps {
  readonly user: UserRecord;
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
      onDone={(answer) => onDone(withHosts(texts.done(user.username), answer))}
    />
  );
}
