/** One's hosts, where there are several: the command for each, and whether it is ready. */

import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { userTexts } from "../../../texts/user/user.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { Section } from "../../../ui/page.tsx";

export type OwnHost = AnswerOf<"GET /me/hosts">["items"][number];

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
        {hosts.map(({ name, state, ssh }) => (
          <li key={name}>
            <strong>{name}</strong>
            <span class={`status ${LOOKS[state]}`}>{texts.states[state]}</span>
            {ssh === null ? (
              <p class="hint">{texts.unknown(name)}</p>
            ) : (
              <Copyable text={ssh.command} label={texts.command(name)} />
            )}
            {state === "applied" ? null : <p class="hint">{texts.why[state]}</p>}
            <a
              href={`${PAGES.connect}${searchOf({ host: name })}`}
              aria-current={name === chosen.name ? "true" : undefined}
            >
              {texts.more(name)}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}
