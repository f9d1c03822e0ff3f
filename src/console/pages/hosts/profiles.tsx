/** The profiles that a host holds, and why it does not hold one. */

import { profileTexts } from "../../texts/profiles/profiles.ts";
import { Section } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Typed } from "../../ui/typed.tsx";
import type { HostDetail } from "./state.ts";

const { held: texts } = profileTexts;

type Held = HostDetail["profiles"][number] & { readonly id: string };

/** Nothing for a host that has not said, or holds none. */
export function HostProfiles({ host: { profiles } }: { readonly host: HostDetail }) {
  if (profiles.length === 0) return null;
  return (
    <Section title={texts.title}>
      <Table caption={texts.title} columns={COLUMNS} items={profiles.map((each) => ({ ...each, id: each.name }))} />
    </Section>
  );
}

const LOOKS = { applied: "active", problem: "expired" } as const;

const COLUMNS: readonly Column<Held>[] = [
  { name: texts.name, isHeader: true, cell: ({ name }) => <bdi class="typed">{name}</bdi> },
  {
    name: texts.state,
    cell: ({ state, problem }) => (
      <div class="event">
        <span class={`status ${LOOKS[state]}`}>{texts.states[state]}</span>
        {problem === "" ? null : <Typed text={problem} />}
      </div>
    ),
  },
];
