/** In which state a host is: as the service says, and shut where its lease has ended. */

import { common } from "../../texts/common.ts";
import type { HostState } from "../../texts/hosts/hosts.ts";
import { hostTexts } from "../../texts/hosts/hosts.ts";
import { useNow } from "../../ui/clock.ts";
import { Time } from "../../ui/time.tsx";
import { type Leased, stateOf } from "./state.ts";

const LOOKS: Readonly<Record<HostState, string>> = {
  active: "active",
  locked: "disabled",
  retiring: "pending",
  ended: "expired",
};

/** The state; a word, marked by colour and shape besides. */
export function HostStatus({ host }: { readonly host: Leased }) {
  const state = stateOf(host, useNow());
  return <span class={`status ${LOOKS[state]}`}>{hostTexts.state[state]}</span>;
}

/** When it shuts if nothing reaches it from now on; in red where it never does. */
export function LeaseEnd({ host: { kind, lease, lease_until: until } }: { readonly host: Leased }) {
  if (kind === "local") return common.dash;
  if (lease === "none") return <strong class="status expired">{hostTexts.noLease}</strong>;
  return until === null ? hostTexts.never : <Time at={until} />;
}
