/** Wrong variants of the rules, each of which somebody might have written: the walk finds a broken promise in every one. */

import { endOf } from "../../../src/agent/lease.ts";
import { EARLY } from "../../../src/agent/lease-keeper.ts";
import { mergeAnswer } from "../../../src/agent/records.ts";
import { RULES, type Rules } from "./agent.ts";
import { SERVICE_RULES, type ServiceRules } from "./world.ts";

export interface Variant {
  readonly rules: Rules;
  readonly service: ServiceRules;
}

export const VARIANTS: Readonly<Record<string, Variant>> = {
  "a lease from the arrival of the answer": agent({
    leaseEnd: ({ arrived }, milliseconds) => endOf(arrived, milliseconds, EARLY),
  }),
  "a lease by the wall clock alone": agent({ isAlive: (lease, now) => now.wall < lease.wall }),
  "a lease that outlives a boot": agent({ leaseSurvivesBoot: true }),
  "a lease renewed before the answer is carried out": agent({ renewsLast: false }),
  "a lease renewed although the host failed at a closing": agent({ mayAdmit: () => false }),
  "an answer to an earlier request": agent({ takesLate: true }),
  "a closing confirmed at which the host failed": agent({ namesRefused: false }),
  "a stored state believed after every start": agent({ isBelieved: () => true }),
  "a stored state believed after work with it": agent({ staysUnbelieved: false }),
  "a stored state that is not believed, but spares work": agent({ redoesUnbelieved: false }),
  "closings stored once they are done": agent({ storesClosingsFirst: false }),
  "new accounts stored once they are made": agent({ storesNewFirst: false }),
  "hours by the host's clock alone": agent({
    times: (_, { wall }) => ({ earliest: wall * 1000, latest: wall * 1000, areSure: true }),
  }),
  "sessions of a revoked key left": agent({
    merge: (...of) => changed(mergeAnswer(...of), (todo) => ({ ...todo, take: [] })),
  }),
  "sessions from outside left": agent({
    merge: (...of) => changed(mergeAnswer(...of), (todo) => ({ ...todo, narrow: false })),
  }),
  "a restored history that opens": service({ isCautious: false }),
  "leases forgotten by a restore": service({ extendsLeases: false }),
  "a lease that the service counts as the host does": service({ tolerance: 0.95 }),
  "a longer lease that the host still has": service({ believesHeld: false }),
};

type State = ReturnType<typeof mergeAnswer>;

function changed(
  state: State,
  change: (todo: State["records"][number]["todo"]) => State["records"][number]["todo"],
): State {
  return { ...state, records: state.records.map((record) => ({ ...record, todo: change(record.todo) })) };
}

function agent(rules: Partial<Rules>): Variant {
  return { rules: { ...RULES, ...rules }, service: SERVICE_RULES };
}

function service(rules: Partial<ServiceRules>): Variant {
  return { rules: RULES, service: { ...SERVICE_RULES, ...rules } };
}
