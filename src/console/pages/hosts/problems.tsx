/** The problems of a host, their start, and their remedies. */

import { oneHostTexts } from "../../texts/hosts/host.ts";
import { hostTexts } from "../../texts/hosts/hosts.ts";
import { Section } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Typed } from "../../ui/typed.tsx";
import { toldTimes } from "../admin/told-times.ts";
import type { HostDetail } from "./state.ts";

const { problems: texts } = oneHostTexts;

type Problem = HostDetail["problems"][number] & { readonly id: number };

export function HostProblems({ host: { problems } }: { readonly host: HostDetail }) {
  return (
    <Section title={texts.title}>
      {problems.length === 0 ? (
        <p class="quiet">{texts.none}</p>
      ) : (
        <Table caption={texts.title} columns={COLUMNS} items={problems.map((problem, id) => ({ ...problem, id }))} />
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<Problem>[] = [
  {
    name: texts.account,
    isHeader: true,
    cell: ({ account }) => (account === "" ? texts.whole : <bdi class="typed">{account}</bdi>),
  },
  {
    name: texts.what,
    cell: ({ kind, text }) => (
      <div class="event">
        <strong>{hostTexts.kinds[kind].name}</strong>
        <Typed text={toldTimes(text)} />
      </div>
    ),
  },
  { name: texts.since, cell: ({ since }) => <Time at={since} /> },
  { name: texts.advice, cell: ({ kind }) => <span class="advice">{hostTexts.kinds[kind].advice}</span> },
];
