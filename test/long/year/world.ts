/** A service on a real database that is stopped, started, backed up and set back, with a host, mail and a clock of the test's own. */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { readConfig } from "../../../src/config/config.ts";
import { createSeal } from "../../../src/domain/audit/seal.ts";
import { createPasswordHasher } from "../../../src/domain/auth/administrators/passwords.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import type { Context, Services } from "../../../src/domain/operation/context.ts";
import { fleetOf } from "../../../src/domain/wire/fleet.ts";
import type { Account, Drift } from "../../../src/protocol/host.ts";
import { backUp, type Installation, restore } from "../../../src/server/backup.ts";
import { policyOf } from "../../../src/server/compose.ts";
import { jobsOf } from "../../../src/server/jobs/jobs.ts";
import { deliverDue } from "../../../src/server/mail/delivery.ts";
import type { MailTransport } from "../../../src/server/mail/mail.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { TEST_KEY } from "../../support/audit-log.ts";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createFakeHost, type FakeHost } from "../../support/fake-host.ts";

/** A link that somebody was mailed. */
export interface Link {
  readonly to: string;
  readonly token: string;
  readonly kind: string;
  /** Ids of users, or of one review. */
  readonly about: readonly number[];
  readonly at: number;
}

export interface World {
  readonly clock: TestClock;
  readonly host: FakeHost;
  /** As it runs now. */
  services(): Services;
  operator(): Context;
  /** Links in mails that arrived; none of those that bounced. */
  readonly links: Link[];
  readonly bouncing: Set<string>;
  readonly everBounced: Set<string>;
  /** All jobs, the host set right, and mail sent. What failed is in `errors`. */
  work(): Promise<void>;
  readonly errors: string[];
  restart(): Promise<void>;
  backUp(): Promise<void>;
  /** To the last backup, as `uam restore --force` does; the service is started again. */
  setBack(): Promise<void>;
  close(): Promise<void>;
}

/** The jobs on which access depends. */
const OFTEN = new Set(["expire", "hours", "companies", "reviews", "recycle", "applications"]);
/** And those of which one day is like the next. */
const SOMETIMES = new Set(["inactivity", "terms", "tokens", "hosts", "fleet-changes", "clean-up", "audit-head"]);

export async function createWorld(): Promise<World> {
  const database = await createTestDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), "uam-test-year-"));
  const file = join(dataDir, "the.backup");
  const clock = createTestClock();
  const host = comparing(createFakeHost(0));
  const links: Link[] = [];
  const [bouncing, everBounced] = [new Set<string>(), new Set<string>()];
  const errors: string[] = [];
  const environment = { UAM_DATA_DIR: dataDir, UAM_BASE_URL: "https://uam.example.org", UAM_EXPIRY_REMINDERS: "7,1" };
  const config = readConfig(environment, { isRoot: false, currentDirectory: "/" });
  const hasher = createPasswordHasher({}, { password: 256, code: 256 });
  const note = (text: string, fields?: object) => {
    // That a mailbox is gone is no fault of the service.
    if (text !== "a mail was given up") errors.push(`${text} ${said(fields)}`);
  };
  const log = { ...silentLog, error: note };

  function open() {
    const [main, autocommit] = [openDatabase(database.connection, 8), openDatabase(database.connection, 2)];
    const parts = { host, clock, log, hasher, seal: createSeal(TEST_KEY), policy: policyOf(config) };
    const services: Services = { db: main.db, autocommit: autocommit.db, ...parts };
    const close = async () => {
      await fleetOf(services).stop();
      await Promise.all([main.close(), autocommit.close()]);
    };
    return { services, close };
  }
  let running = open();
  const transport: MailTransport = {
    send: async ({ to, text }) => {
      if (bouncing.has(to)) {
        everBounced.add(to);
        return { kind: "reject", reason: "550 no such mailbox" };
      }
      const token = /#([\w-]{43})/.exec(text)?.[1];
      if (token !== undefined) await arrive(to, token);
      return { kind: "sent" };
    },
    verify: async () => {},
    close: async () => {},
  };
  async function arrive(to: string, token: string): Promise<void> {
    const hash = createHash("sha256").update(token).digest("hex");
    const [row] = await running.services.db.execute<{ kind: string; about: string; at: string }>(sql`
      select kind, to_json(about)::text as about, (extract(epoch from created_at) * 1000)::bigint::text as at
      from questions where encode(token_hash, 'hex') = ${hash}`);
    if (row !== undefined)
      links.push({ to, token, kind: row.kind, about: JSON.parse(row.about) as number[], at: Number(row.at) });
  }
  const installation: Installation = {
    ...{ dataDir, auditKey: TEST_KEY, uidRange: config.uidRange },
    openServer: async () => ({ connection: database.connection, owner: database.superuser, stop: async () => {} }),
    openHost: async () => host,
    openServices: async () => open(),
    openToLook: async () => open(),
  };
  const actor = { type: "cli", name: "operator", ip: "" } as const;
  const transfer = () => ({ installation, log, file, force: true, signal: new AbortController().signal, actor });

  async function work(): Promise<void> {
    const { services } = running;
    const { signal } = new AbortController();
    const isMorning = clock.now().getUTCHours() < 6;
    for (const job of jobsOf(services, { dataDir, reconcile: async () => [], transport })) {
      if (OFTEN.has(job.name) || (isMorning && SOMETIMES.has(job.name))) await job.run(signal);
    }
    await reconcileHost(services, dataDir, "repair at once");
    await deliverDue(services, transport);
  }
  async function restart(): Promise<void> {
    await running.close();
    running = open();
  }
  return {
    ...{ clock, host, links, bouncing, everBounced, errors, work, restart },
    services: () => running.services,
    operator: () => ({ ...running.services, actor, requestId: "" }),
    backUp: async () => void (await backUp(transfer())),
    setBack: async () => {
      await running.close();
      try {
        await restore(transfer());
      } finally {
        running = open();
      }
    },
    close: async () => {
      await running.close();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A host that is set right where it differs, as a real one is. */
function comparing(host: FakeHost): FakeHost {
  const { accounts, failing } = host;
  const drift = ({ name }: Account, problem: string, repaired: boolean): Drift => {
    return { account: name, kind: problem === "missing" ? "missing" : "expiry_date", problem, repaired };
  };
  return Object.assign(host, {
    reconcile: async (compared: readonly Account[], checkOnly: boolean): Promise<readonly Drift[]> =>
      compared.flatMap((account) => {
        const found = accounts.get(account.name);
        if (found === undefined || found.uid !== account.uid) return [drift(account, "missing", false)];
        const isSame = account.open ? found.open && +found.expireAt === +account.expireAt : !found.open;
        if (isSame) return [];
        const isRepaired = !checkOnly && !failing.has("shutAccount");
        if (isRepaired) Object.assign(found, { open: account.open, expireAt: account.expireAt });
        return [drift(account, "differs", isRepaired)];
      }),
  });
}

function said(fields: object | undefined): string {
  const { error, ...rest } = (fields ?? {}) as { readonly error?: unknown };
  return `${error instanceof Error ? error.message : ""} ${JSON.stringify(rest)}`;
}
