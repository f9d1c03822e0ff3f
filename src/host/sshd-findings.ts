/** Findings about the host's sshd while reconciling: that it cannot be read, or that it cannot read a key. */

import type { Account, Drift } from "../protocol/host.ts";
import { type HostContext, isUnread } from "./host-context.ts";
import { type ListedProcess, sentenceOfUnread } from "./processes/processes.ts";
import type { ReadKeyFiles } from "./sshd/sshd.ts";

/** A key that opens nothing on the host; nothing repairs that. */
interface UnreadKey extends Pick<Drift, "kind" | "problem"> {
  readonly changes: undefined;
}

/** Faults that prevent the whole host from being checked. They belong to no account: an administrator has to decide. */
export function unreadable(
  { settings }: HostContext,
  { problem }: ReadKeyFiles,
  processes: readonly ListedProcess[],
): readonly Drift[] {
  // A dry run may be anybody's, and sshd answers only root.
  if (settings.mode === "dry-run") return [];
  return [problem, sentenceOfUnread(processes)].flatMap((sentence) =>
    sentence === undefined ? [] : [{ account: "", kind: "failed", problem: sentence, repaired: false } as const],
  );
}

/** Keys that are stored, and that sshd here cannot read: their owner is to know that they open nothing on this host. */
export function keysUnread({ patterns }: HostContext, { open, keys }: Account): readonly UnreadKey[] {
  const unread = open ? keys.filter((key) => isUnread(patterns, key)) : [];
  return unread.map(({ type, fingerprint }) => ({
    kind: "key_refused",
    problem: `this host's sshd does not accept keys of the type ${type}: ${fingerprint} opens nothing here`,
    changes: undefined,
  }));
}
