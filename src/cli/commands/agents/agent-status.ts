/** uam agent status: how the agent of this host is, for a person. */

import { watchClock } from "../../../agent/hours.ts";
import { isAlive, isForever, isLinked, type Lease, momentOf, readLease, secondsLeft } from "../../../agent/lease.ts";
import { AGENT_DIRECTORY } from "../../../agent/paths.ts";
import { accountOf } from "../../../agent/records.ts";
import { readStatus } from "../../../agent/status.ts";
import { readState } from "../../../agent/store.ts";
import { LEASE_FILES } from "../../../install/lease-files.ts";
import { silentLog } from "../../../shared/log.ts";
import { lockedAccounts, readLocks } from "../../../shared/system/lock-journal.ts";
import { SECOND, shift, systemClock } from "../../../shared/time/clock.ts";
import { formatDuration } from "../../../shared/time/duration.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import { type CliEnvironment, EXIT } from "../../terminal/environment.ts";
import { printJson, printRecord, printTable, shortTime } from "../../terminal/output.ts";
import { requireJoined } from "./agent-host.ts";

/** Prints it; 1 if no external account can log in. */
export async function showAgent(environment: CliEnvironment, json: boolean): Promise<number> {
  const identity = requireJoined(environment);
  const status = readStatus(LEASE_FILES.directory);
  const state = readState(AGENT_DIRECTORY);
  const locks = [AGENT_DIRECTORY, LEASE_FILES.directory].flatMap((place) => readLocks(place, silentLog));
  const locked = lockedAccounts(locks);
  const times = watchClock(LEASE_FILES.directory, () => momentOf(systemClock)).times();
  const accounts = state?.records.map((record) => accountOf(record, { status: state.status, locked, times })) ?? [];
  const open = isLinked(LEASE_FILES);
  const facts = {
    ...{ name: identity.name, host_id: identity.host_id, service: identity.service, joined_at: identity.joined_at },
    ...{ status: state?.status ?? null, open },
    ...{ connected_since: status?.since ?? null, last_answer: status?.last_answer ?? null },
    ...{ failure: status === undefined ? "the agent has not run since the boot" : (status.failure ?? null) },
    ...{ lease_until: untilOf(readLease(LEASE_FILES, "lease")), hold_until: untilOf(readLease(LEASE_FILES, "hold")) },
    ...{ accounts: accounts.length, accounts_open: accounts.filter((account) => account.open).length },
    problems: status?.problems ?? [],
  };
  if (json) printJson(environment, facts);
  else {
    const { problems } = facts;
    printRecord(environment, {
      host: `${facts.name} (number ${facts.host_id}) at ${facts.service}, since ${shortTime(facts.joined_at)}`,
      service:
        facts.connected_since === null
          ? `not connected: ${facts.failure}; its last answer: ${shortTime(facts.last_answer)}`
          : `connected since ${shortTime(facts.connected_since)}`,
      logins: open ? "open" : `shut: ${whyShut(facts)}`,
      lease: said(facts.lease_until),
      ...(facts.hold_until === null ? {} : { hold: said(facts.hold_until) }),
      accounts: `${facts.accounts}, ${facts.accounts_open} of them open`,
      problems: problems.length === 0 ? "none" : problems.length,
    });
    if (problems.length > 0) {
      environment.out("\n");
      await printTable(
        environment,
        [
          { header: "ACCOUNT", value: ({ account }) => account || "-" },
          { header: "PROBLEM", value: ({ kind }) => kind },
          { header: "", value: ({ text }) => text, narrow: "cut" },
        ],
        problems,
      );
    }
  }
  return open ? EXIT.done : EXIT.failed;
}

type Until = { readonly at: string | null; readonly seconds_left: number | null } | null;

/** Null at `at`: it never ends. */
function untilOf(lease: Lease | undefined): Until {
  if (lease === undefined) return null;
  if (isForever(lease)) return { at: null, seconds_left: null };
  const left = isAlive(lease, momentOf(systemClock)) ? (secondsLeft(lease, momentOf(systemClock)) ?? 0) : 0;
  return { at: formatTimestamp(shift(systemClock.now(), left * SECOND)), seconds_left: Math.floor(left) };
}

function said(until: Until): string {
  if (until === null) return "none";
  if (until.at === null) return "without end: the service has set none for this host";
  const left = until.seconds_left ?? 0;
  return left > 0 ? `until ${shortTime(until.at)}, for ${formatDuration(left * SECOND)}` : "ended";
}

function whyShut(facts: { readonly status: string | null; readonly lease_until: Until }): string {
  if (facts.status === "locked") return "the service has locked this host";
  if (facts.status === "retiring") return "the service is removing this host";
  return facts.lease_until === null ? "there is no lease since the boot" : "the lease has ended";
}
