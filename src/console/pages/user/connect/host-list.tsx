/** One's hosts, where there are several: the command for each, and whether it is ready. */

import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../../../../shared/product/pages.ts";
import { searchOf } from "../../../api.ts";
import { userTexts } from "../../../texts/user/user.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { Section } from "../../../ui/page.tsx";
import { type OwnHost, shownName } from "../own-account.ts";

/** The id of the heading above what is about the chosen host. */
export const PART = "chosen-host";

const LOOKS = { applied: "active", pending: "pending", problem: "expired" } as const;

interface HostListProps {
  readonly hosts: readonly OwnHost[];
  readonly chosen: OwnHost;
}

export function HostList({ hosts, chosen }: HostListProps) {
  const { hosts: texts } = userTexts.connect;
  const { query } = useLocation();
  // The user chose a host to read about it; the link that they pressed is far above.
  useEffect(() => {
    if (query.host === chosen.name) document.getElementById(PART)?.scrollIntoView();
  }, [query.host]);
  return (
    <Section title={texts.title}>
      <ul class="rows">
        {hosts.map((host) => (
          <Host key={host.name} host={host} isChosen={host.name === chosen.name} />
        ))}
      </ul>
    </Section>
  );
}

function Host({ host, isChosen }: { readonly host: OwnHost; readonly isChosen: boolean }) {
  const { hosts: texts } = userTexts.connect;
  const { name, state, ssh } = host;
  const shown = shownName(host);
  return (
    <li>
      <strong>{shown}</strong>
      <span class={`status ${LOOKS[state]}`}>{texts.states[state]}</span>
      {ssh === null ? (
        <p class="hint">{texts.unknown(shown)}</p>
      ) : (
        <Copyable text={ssh.command} label={texts.command(shown)} />
      )}
      {state === "applied" ? null : <p class="hint">{texts.why[state]}</p>}
      <a href={`${PAGES.connect}${searchOf({ host: name })}`} aria-current={isChosen ? "true" : undefined}>
        {texts.more(shown)}
      </a>
    </li>
  );
}
