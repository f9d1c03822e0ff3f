/**
 * Operations whose connection to the database is cut at one message after the other: what was answered, what is stored, what is
 * on the host and what is recorded must agree, and what takes access away must be finished once the database is there.
 */

import { eq } from "drizzle-orm";
import { removeUnfinishedAccounts } from "../../src/domain/accounts/intents.ts";
import { revokeKey, uploadKey } from "../../src/domain/keys/keys.ts";
import { finishClosings } from "../../src/domain/lifecycle/finish-closings.ts";
import type { Context } from "../../src/domain/operation/context.ts";
import { extendUser, moveEnd } from "../../src/domain/users/extend.ts";
import { lockOwnAccount } from "../../src/domain/users/own-lock.ts";
import { createUser, deleteUser, disableUser, enableUser } from "../../src/domain/users/users.ts";
import { errorResponse } from "../../src/server/api/http/errors.ts";
import { DAY, shift } from "../../src/shared/time/clock.ts";
import { type DatabaseHandle, openDatabase } from "../../src/store/client.ts";
import { sshKeys, users } from "../../src/store/schema.ts";
import type { TestApp } from "./app.ts";
import { freshKey } from "./keys.ts";
import { startPostgresProxy } from "./postgres-proxy.ts";

interface Subject {
  readonly id: number;
  readonly username: string;
  readonly keyId: number;
}

/** An operation, and how one sees from outside whether it was done. */
interface Subjected {
  readonly action: string;
  /** What takes access away goes on after it failed; anything else is then as if it had never been asked for. */
  readonly goesOn: boolean;
  readonly prepare?: (context: Context, subject: Subject) => Promise<unknown>;
  readonly run: (context: Context, subject: Subject) => Promise<unknown>;
  readonly isDone: (state: State) => boolean;
  /** Whether what it takes away lets nobody in any more, from the answer on. */
  readonly isAway?: (state: State) => boolean;
}

interface State {
  readonly status: string | undefined;
  readonly expireAt: number;
  readonly keys: readonly string[];
  readonly account: { readonly open: boolean; readonly expireAt: number; readonly file: readonly string[] } | undefined;
  /** The same of a user who was created on the way. */
  readonly created: { readonly isStored: boolean; readonly hasAccount: boolean };
}

const NEWCOMER = "newcomer";
const OPERATIONS: Readonly<Record<string, Subjected>> = {
  create: {
    ...{ action: "user.create", goesOn: false },
    run: (context, { username }) =>
      createUser(context, { username: `${username}-${NEWCOMER}`, email: "n@example.org" }),
    isDone: ({ created }) => created.isStored,
  },
  upload: {
    ...{ action: "key.create", goesOn: false },
    run: (context, { id }) => uploadKey(context, id, { name: "second", publicKey: freshKey() }),
    isDone: ({ keys }) => keys.length === 2,
  },
  extend: {
    ...{ action: "user.extend", goesOn: false },
    run: (context, { id }) => extendUser(context, id, 500),
    isDone: ({ expireAt }) => expireAt > 400,
  },
  shorten: {
    ...{ action: "user.shorten", goesOn: true },
    run: (context, { id }) => moveEnd(context, id, { until: shift(context.clock.now(), DAY) }),
    isDone: ({ expireAt }) => expireAt < 2,
    isAway: ({ account }) => account !== undefined && account.expireAt < 2,
  },
  enable: {
    ...{ action: "user.enable", goesOn: false },
    prepare: (context, { id }) => disableUser(context, id),
    run: (context, { id }) => enableUser(context, id),
    isDone: ({ status }) => status === "active",
  },
  revoke: {
    ...{ action: "key.revoke", goesOn: true },
    run: (context, { id, keyId }) => revokeKey(context, id, keyId),
    isDone: ({ keys }) => keys.length === 0,
    isAway: ({ account }) => account?.file.length === 0,
  },
  disable: {
    ...{ action: "user.disable", goesOn: true },
    run: (context, { id }) => disableUser(context, id),
    isDone: ({ status }) => status === "disabled",
    isAway: ({ account }) => account?.open === false,
  },
  lock: {
    ...{ action: "user.lock", goesOn: true },
    run: (context, { id }) => lockOwnAccount(context, id),
    isDone: ({ status }) => status === "disabled",
    isAway: ({ account }) => account?.open === false,
  },
  delete: {
    ...{ action: "user.delete", goesOn: true },
    run: (context, { id }) => deleteUser(context, id),
    isDone: ({ status }) => status === undefined,
    isAway: ({ account }) => account?.open !== true,
  },
};

export const CUT_OPERATIONS = Object.keys(OPERATIONS);

export interface Cutter {
  /** Cuts that operation at every `stride`th message, from the first on; returns what must not be, in sentences, and how often it cut. */
  walk(
    name: string,
    stride: number,
    first?: number,
  ): Promise<{ readonly faults: readonly string[]; readonly cuts: number }>;
  close(): Promise<void>;
}

export async function openCutter(app: TestApp): Promise<Cutter> {
  const proxy = await startPostgresProxy(app.connection);
  let count = 0;

  async function round(name: string, message: number, when: "before" | "after"): Promise<Round> {
    const operation = OPERATIONS[name] as Subjected;
    const subject = await makeSubject(app, `cut-${++count}`);
    await operation.prepare?.(app.system, subject);
    const before = (await app.auditRows(operation.action)).length;
    const handles = [openDatabase(proxy.connection, 2), openDatabase(proxy.connection, 1)] as const;
    const [main, autocommit] = handles;
    const context = { ...app.system, db: main.db, autocommit: autocommit.db };
    const cutsBefore = proxy.cuts;
    proxy.cutAt(message, when);
    const answer = await operation.run(context, subject).then(
      () => undefined,
      (error: unknown) => error,
    );
    const isOver = proxy.cuts === cutsBefore;
    proxy.cutAt(0, "before");
    await closeAll(handles);
    const faults = await judge(app, { operation, subject, answer, before });
    return { isOver, faults: faults.map((fault) => `${name}, cut ${when} message ${message}: ${fault}`) };
  }

  return {
    async walk(name, stride, first = 1) {
      const faults: string[] = [];
      let cuts = 0;
      for (const when of ["before", "after"] as const) {
        for (let message = first; ; message += stride) {
          const done = await round(name, message, when);
          faults.push(...done.faults);
          if (done.isOver) break;
          cuts++;
        }
      }
      return { faults, cuts };
    },
    close: async () => proxy.close(),
  };
}

interface Round {
  /** The operation sends fewer messages: nothing was cut. */
  readonly isOver: boolean;
  readonly faults: readonly string[];
}

interface Case {
  readonly operation: Subjected;
  readonly subject: Subject;
  readonly answer: unknown;
  /** Records of the action before it. */
  readonly before: number;
}

async function judge(app: TestApp, { operation, subject, answer, before }: Case): Promise<readonly string[]> {
  const faults: string[] = [];
  const fault = (isSo: boolean, sentence: string) => void (isSo && faults.push(sentence));
  const told = await toldOf(answer);
  const at = await stateOf(app, subject);
  const done = operation.isDone(at);
  fault(answer === undefined && !done, `it was answered as done and is not: ${JSON.stringify(at)}`);
  fault(answer !== undefined && done && !operation.goesOn, `it was answered as failed and is done: ${told.sentence}`);
  fault(/internal error/.test(told.sentence), `nobody can act on the answer: ${told.sentence}`);
  fault(
    told.isOwed && operation.isAway?.(at) === false,
    `it is being taken away, and still lets them in: ${told.sentence}`,
  );
  await removeUnfinishedAccounts(app.services);
  await finishClosings(app.services, "all");
  const settled = await stateOf(app, subject);
  if (told.isOwed) fault(!operation.isDone(settled), `it is owed and not finished: ${JSON.stringify(settled)}`);
  fault(!agrees(settled), `host and database differ: ${JSON.stringify(settled)}`);
  const records = (await app.auditRows(operation.action)).slice(before).map(({ result }) => result);
  const successes = records.filter((result) => result === "success").length;
  const isDone = operation.isDone(settled);
  fault(successes !== (isDone ? 1 : 0), `it is ${isDone ? "" : "not "}done and recorded as ${records.join(", ")}`);
  return faults;
}

async function toldOf(answer: unknown) {
  if (answer === undefined) return { sentence: "", isOwed: false };
  const response = errorResponse(answer);
  const { error: sentence } = (await response.json()) as { error: string };
  return { sentence, isOwed: response.headers.get("uam-error") === "access.owed" };
}

/** What sshd would let in is what is stored. */
function agrees({ status, keys, account, created }: State): boolean {
  if (created.isStored !== created.hasAccount) return false;
  if (status === undefined) return account === undefined;
  if (account === undefined) return false;
  const wanted = status === "active" ? [...keys] : [];
  return account.open === (status === "active") && wanted.sort().join() === [...account.file].sort().join();
}

async function makeSubject(app: TestApp, username: string): Promise<Subject> {
  const { id } = await createUser(app.system, { username, email: "cut@example.org" });
  const { id: keyId } = await uploadKey(app.system, id, { name: "first", publicKey: freshKey() });
  return { id, username, keyId };
}

async function stateOf({ db, host, clock }: TestApp, { id, username }: Subject): Promise<State> {
  const [user] = await db.select().from(users).where(eq(users.id, id));
  const keys = await db.select().from(sshKeys).where(eq(sshKeys.userId, id));
  const [created] = await db
    .select()
    .from(users)
    .where(eq(users.username, `${username}-${NEWCOMER}`));
  const account = host.accounts.get(`ext_${username}`);
  const daysTo = (end: Date) => (end.getTime() - clock.now().getTime()) / DAY;
  return {
    status: user?.status,
    expireAt: user === undefined ? 0 : daysTo(user.expireAt),
    keys: keys.filter(({ status }) => status === "active").map(({ fingerprint }) => fingerprint),
    account:
      account === undefined
        ? undefined
        : { open: account.open, expireAt: daysTo(account.expireAt), file: account.file },
    created: { isStored: created !== undefined, hasAccount: host.accounts.has(`ext_${username}-${NEWCOMER}`) },
  };
}

async function closeAll(handles: readonly DatabaseHandle[]): Promise<void> {
  // A pool that lost a connection would take its five seconds to close.
  await Promise.all(handles.map(({ db }) => db.$client.end({ timeout: 0 })));
}
