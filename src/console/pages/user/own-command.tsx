/** The command that connects to one's host; of several hosts to the first, and how many more there are. */

import { userTexts } from "../../texts/user/user.ts";
import { Copyable } from "../../ui/copy.tsx";
import { type OwnAccount, shownName, useOwnHosts } from "./own-account.ts";

export function OwnCommand({ own, label }: { readonly own: OwnAccount; readonly label: string }) {
  const hosts = useOwnHosts();
  if (hosts.isPending) return null;
  const [first, ...others] = hosts.data?.items ?? [];
  // Without the list, what is known of the service's own host is of use as well.
  const ssh = first === undefined ? own.ssh : first.ssh;
  if (ssh === null) return null;
  return (
    <>
      <Copyable text={ssh.command} label={label} />
      {first === undefined || others.length === 0 ? null : (
        <p>{userTexts.overview.connect.others(shownName(first), others.length)}</p>
      )}
    </>
  );
}
