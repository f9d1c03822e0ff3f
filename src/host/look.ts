/** Root's side of a reconciliation in sudo mode: which accounts may differ, by one look at all of them. Changes nothing. */

import type { Account } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import { silentLog } from "../shared/log.ts";
import { OWN_VIEW } from "./execute/view.ts";
import type { Executor } from "./executor.ts";
import { reconcileAccounts } from "./reconcile.ts";
import { type HostSettings, requireLayout } from "./settings.ts";
import { createKeyFilePatterns, detectExpiryFormat } from "./sshd/sshd.ts";

/** The settings that the rule pins: where the accounts of the service are. */
export type LookedAt = Pick<HostSettings, "markerGroup" | "homeBase" | "authorizedKeysFile">;

/**
 * The names of those that differ, or that cannot be looked at, of these accounts, which are JSON. Whoever asks learns nothing but
 * that, and looks at each of them with the rights of its owner. Throws `invalid` for what is no list of accounts.
 */
export async function rootLook(where: LookedAt, accounts: string): Promise<readonly string[]> {
  const layout = requireLayout({ ...where, shell: "/bin/sh", groups: [] });
  const settings: HostSettings = { ...layout, mode: "sudo", homesStay: true, revokeEnds: "none" };
  const parts = {
    settings,
    executor: ONLY_LOOKS,
    expiry: await detectExpiryFormat(undefined),
    log: silentLog,
    patterns: createKeyFilePatterns(undefined),
    hostKeys: async () => [],
  };
  const drifts = await reconcileAccounts(parts, parseAccounts(accounts), true);
  return [...new Set(drifts.map(({ account }) => account))].filter((name) => name !== "");
}

function parseAccounts(text: string): readonly Account[] {
  const invalid = (cause?: unknown) => new UamError("invalid", "Not a list of accounts", { cause });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid(cause);
  }
  if (!Array.isArray(value) || !value.every(isAccount)) throw invalid();
  return value.map((account) => ({ ...account, expireAt: new Date(account.expireAt) }));
}

/** As far as it takes for the comparison, which itself reports a key that is none, to come to an end. */
function isAccount(value: unknown): value is Omit<Account, "expireAt"> & { readonly expireAt: string } {
  if (typeof value !== "object" || value === null) return false;
  const { name, uid, open, expireAt, keys } = value as Readonly<Record<string, unknown>>;
  const isDated = typeof expireAt === "string" && !Number.isNaN(Date.parse(expireAt));
  return (
    typeof name === "string" && typeof uid === "number" && typeof open === "boolean" && isDated && Array.isArray(keys)
  );
}

function refuse(): never {
  throw new UamError("internal", "Only looking is allowed");
}

const ONLY_LOOKS: Executor = {
  apply: refuse,
  endUnproven: refuse,
  endOutside: refuse,
  sessions: { list: refuse, end: refuse, logins: refuse, refusals: refuse },
  jobs: { keep: refuse, forget: refuse },
  view: OWN_VIEW,
};
