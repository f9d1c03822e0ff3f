/** The executor of a dry run: the same plans as in the modes that change the host, logged instead of carried out. */

import type { AccountRef } from "../../protocol/host.ts";
import type { Log } from "../../shared/log.ts";
import { type AccountTable, createGroupsReader } from "../account.ts";
import {
  describeChange,
  describeJobsCopy,
  describeOutsideEnd,
  describeSessionEnd,
  type Executor,
  type HostView,
} from "../executor.ts";
import { expectedOwner } from "../plan/plan.ts";
import type { Layout } from "../settings.ts";

/** Logs each change at level info, as "would run", "would write" and so on, with its arguments; changes nothing. */
export function createDryRunExecutor(layout: Layout, log: Log): Executor {
  return {
    async apply(change) {
      const { message, fields } = describeChange(change);
      log.info(`would ${message}`, fields);
    },
    async endUnproven(account, fingerprint) {
      const { message, fields } = describeSessionEnd(account, fingerprint);
      log.info(`would ${message}`, fields);
      // Without proof, which only the host has, everything ends.
      return false;
    },
    async endOutside(account) {
      const { message, fields } = describeOutsideEnd(account);
      log.info(`would ${message}`, fields);
      return true;
    },
    sessions: {
      list: async () => [],
      end: async (account, id) => {
        log.info("would end an SSH session", { account: account.name, session: id });
        return "gone";
      },
      logins: async (from) => ({ logins: [], next: from }),
      refusals: async () => ({ refusals: [], unread: "A dry run reads no log" }),
    },
    jobs: {
      async keep(account) {
        const { message, fields } = describeJobsCopy(account);
        log.info(`would ${message}`, fields);
        return "none";
      },
      forget: async () => {},
    },
    view: viewOf(layout),
  };
}

/** Every account in question exists and is as it should be; nothing of it is inspected. */
function viewOf(layout: Layout): HostView {
  const readGroups = createGroupsReader();
  return {
    accounts: (accounts) => tableOf(layout, readGroups(), accounts),
    shadow: async () => undefined,
    isHomeShut: () => undefined,
    exists: () => false,
    processes: () => [],
    mounts: () => [],
    keyFileDifference: async () => undefined,
    keyFileText: async () => ({ text: "" }),
    trash: async () => [],
    uidKnown: async () => false,
    gidKnown: async () => false,
  };
}

function tableOf(layout: Layout, groups: AccountTable["groups"], accounts: readonly AccountRef[]): AccountTable {
  const marker = groups.get(layout.markerGroup);
  const members = new Set(accounts.map(({ name }) => name));
  return {
    passwd: new Map(accounts.map((account) => [account.name, expectedOwner(layout, account)])),
    namesByUid: new Map(accounts.map(({ name, uid }) => [uid, [name]])),
    groups:
      marker === undefined && members.size === 0
        ? groups
        : new Map([...groups, [layout.markerGroup, { gid: marker?.gid ?? 0, members }]]),
    shadow: undefined,
  };
}
