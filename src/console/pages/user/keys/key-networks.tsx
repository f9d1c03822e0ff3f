/** From where one's account and one's keys may be used, and changing that for a key. */

import { api } from "../../../api.ts";
import { networkTexts } from "../../../texts/networks.ts";
import { withHosts } from "../../../ui/confirmed.ts";
import { isolated } from "../../../ui/isolated.ts";
import { NetworkList, NetworksDialog } from "../../../ui/networks.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import type { OwnAccount, OwnKey } from "../own-account.ts";

/** Nothing where the account may be used from anywhere. */
export function AccountNetworks({ networks }: { readonly networks: readonly string[] }) {
  if (networks.length === 0) return null;
  return (
    <div>
      <p>{networkTexts.account}</p>
      <NetworkList networks={networks} none="" />
    </div>
  );
}

interface OwnKeyNetworksProps extends DialogProps {
  readonly target: OwnKey;
  readonly own: OwnAccount;
}

export function OwnKeyNetworks({ target, own, onClose, onDone }: OwnKeyNetworksProps) {
  const { key: texts } = networkTexts;
  const name = isolated(target.name);
  return (
    <NetworksDialog
      title={texts.title(name)}
      hint={
        <>
          {texts.hint}
          <AccountNetworks networks={own.source_networks} />
        </>
      }
      networks={target.source_networks}
      lifted={texts.lifted}
      note={texts.careful}
      save={(source_networks) => api("PATCH /me/keys/:id", { params: { id: target.id }, body: { source_networks } })}
      onClose={onClose}
      onDone={(answer) => onDone(withHosts(texts.done(name), answer))}
    />
  );
}
