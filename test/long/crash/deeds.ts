/** What an operator and a user do that changes anything, each with how its stored state looks before and after. */

import { openSession } from "../../../src/domain/auth/sessions/sessions.ts";
import { setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, disableUser } from "../../../src/domain/users/users.ts";
import { freshKey } from "../../support/keys.ts";
import type { World } from "./world.ts";

/** A user, as stored. */
export interface State {
  readonly status: string;
  readonly purpose: string;
  readonly expireAt: string;
  readonly networks: string;
  /** `ID NAME NETWORKS` of each active key. */
  readonly keys: readonly string[];
  /** Whether access is open in some hours only. */
  readonly hours: boolean;
  /** Whether an account on the service's own host is granted. */
  readonly local: boolean;
}

/** Whom a deed is about. */
export interface Subject {
  readonly name: string;
  /** 0 before it is created. */
  readonly id: number;
  readonly session: string;
  readonly keyIds: readonly number[];
}

/** What the caller was told. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Deed {
  /** What the log has of it, once it is done. */
  readonly action: string;
  /** What gives access is undone where it is refused; what takes it away is not. */
  readonly kind: "gives" | "takes" | "neither";
  readonly prepare: (context: Context, world: World) => Promise<Subject>;
  /** What the next start of the service is to do, in place of `act`; and whether what is stored shows that it was done. */
  readonly atStart?: "is finished" | "is not to be seen";
  /** Undefined where nobody answered. */
  readonly act: (world: World, subject: Subject) => Promise<Answer | undefined>;
  readonly isDone: (state: State | undefined, subject: Subject, before: State | undefined) => boolean;
}

const OFFICE = "192.0.2.0/24";
const HOME = "198.51.100.0/24";
/** A host without an agent, so that a user can be without an account on the service's own. */
export const ELSEWHERE = "elsewhere";

export async function newUser(context: Context, world: World, keys: number): Promise<Subject> {
  const name = world.name();
  const { id } = await createUser(context, { username: name, email: `${name}@example.org` });
  const keyIds: number[] = [];
  for (let key = 0; key < keys; key++) {
    const stored = await uploadKey(context, id, { name: `key ${key}`, publicKey: freshKey() });
    keyIds.push(stored.id);
  }
  const principal = { userType: "user", id, username: name, email: `${name}@example.org` } as const;
  const { token } = await context.db.transaction((tx) => openSession(tx, context, principal));
  return { name, id, keyIds, session: `__Host-uam_session=${token}` };
}

type Request = readonly [method: string, path: string, body?: unknown];

/** By an administrator, unless the user does it. */
export function request(ask: (subject: Subject) => Request, by: "admin" | "user" = "admin"): Deed["act"] {
  return async (world, subject) => {
    const [method, path, body] = ask(subject);
    const answer = await world.call(method, path, by === "admin" ? world.admin() : subject.session, body);
    return answer === undefined
      ? undefined
      : { status: answer.status, text: JSON.stringify(answer.body).slice(0, 400) };
  };
}

const withKeys = (keys: number) => (context: Context, world: World) => newUser(context, world, keys);
const has = (state: State | undefined, key: number | undefined): boolean =>
  state?.keys.some((text) => text.startsWith(`${key} `)) === true;

export const DEEDS: Readonly<Record<string, Deed>> = {
  create: {
    ...{ action: "user.create", kind: "gives" },
    prepare: async (_context, world) => ({ name: world.name(), id: 0, session: "", keyIds: [] }),
    act: request(({ name }) => ["POST", "/users", { username: name, email: `${name}@example.org` }]),
    isDone: (state) => state?.status === "active",
  },
  "create a second of that name": {
    ...{ action: "user.create", kind: "gives" },
    prepare: withKeys(0),
    act: request(({ name }) => ["POST", "/users", { username: name, email: `${name}@example.org` }]),
    isDone: () => false,
  },
  upload: {
    ...{ action: "key.create", kind: "gives" },
    prepare: withKeys(1),
    act: request(() => ["POST", "/me/keys", { name: "laptop", public_key: freshKey() }], "user"),
    isDone: (state, _subject, before) => state?.keys.length === (before?.keys.length ?? 0) + 1,
  },
  revoke: {
    ...{ action: "key.revoke", kind: "takes" },
    prepare: withKeys(2),
    act: request(({ keyIds }) => ["DELETE", `/me/keys/${keyIds[0]}`], "user"),
    isDone: (state, { keyIds }) => state !== undefined && !has(state, keyIds[0]) && has(state, keyIds[1]),
  },
  "rename a key": {
    ...{ action: "key.rename", kind: "neither" },
    prepare: withKeys(1),
    act: request(({ keyIds }) => ["PATCH", `/me/keys/${keyIds[0]}`, { name: "renamed" }], "user"),
    isDone: (state) => state?.keys[0]?.includes("renamed") === true,
  },
  disable: {
    ...{ action: "user.disable", kind: "takes" },
    prepare: withKeys(1),
    act: request(({ id }) => ["POST", `/users/${id}/disable`]),
    isDone: (state) => state?.status === "disabled",
  },
  enable: {
    ...{ action: "user.enable", kind: "gives" },
    prepare: async (context, world) => {
      const subject = await newUser(context, world, 1);
      await disableUser(context, subject.id);
      return subject;
    },
    act: request(({ id }) => ["POST", `/users/${id}/enable`]),
    isDone: (state) => state?.status === "active",
  },
  extend: {
    ...{ action: "user.extend", kind: "gives" },
    prepare: withKeys(1),
    act: request(({ id }) => ["POST", `/users/${id}/extend`, { days: 7 }]),
    isDone: (state, _subject, before) => state !== undefined && state.expireAt > (before?.expireAt ?? ""),
  },
  shorten: {
    ...{ action: "user.shorten", kind: "takes" },
    prepare: withKeys(1),
    act: request(({ id }) => [
      "POST",
      `/users/${id}/extend`,
      { until: new Date(Date.now() + 3_600_000).toISOString() },
    ]),
    isDone: (state, _subject, before) => state !== undefined && state.expireAt < (before?.expireAt ?? ""),
  },
  delete: {
    ...{ action: "user.delete", kind: "takes" },
    prepare: withKeys(1),
    act: request(({ id }) => ["DELETE", `/users/${id}`]),
    isDone: (state) => state === undefined,
  },
  update: {
    ...{ action: "user.update", kind: "neither" },
    prepare: withKeys(0),
    act: request(({ id, name }) => ["PATCH", `/users/${id}`, { purpose: "audit", email: `${name}2@example.org` }]),
    isDone: (state) => state?.purpose === "audit",
  },
  narrow: {
    ...{ action: "user.update", kind: "takes" },
    prepare: withKeys(1),
    act: request(({ id }) => ["PATCH", `/users/${id}`, { source_networks: [OFFICE] }]),
    isDone: (state) => state?.networks === OFFICE,
  },
  widen: {
    ...{ action: "user.update", kind: "gives" },
    prepare: async (context, world) => {
      const subject = await newUser(context, world, 1);
      await updateUser(context, subject.id, { sourceNetworks: [OFFICE] });
      return subject;
    },
    act: request(({ id }) => ["PATCH", `/users/${id}`, { source_networks: [] }]),
    isDone: (state) => state?.networks === "",
  },
  "one network for another": {
    ...{ action: "user.update", kind: "takes" },
    prepare: async (context, world) => {
      const subject = await newUser(context, world, 1);
      await updateUser(context, subject.id, { sourceNetworks: [OFFICE] });
      return subject;
    },
    act: request(({ id }) => ["PATCH", `/users/${id}`, { source_networks: [HOME] }]),
    isDone: (state) => state?.networks === HOME,
  },
  "another host": {
    ...{ action: "user.grant", kind: "takes" },
    prepare: withKeys(1),
    act: request(({ id }) => ["PUT", `/users/${id}/hosts`, { hosts: [ELSEWHERE], groups: [] }]),
    isDone: (state) => state?.local === false,
  },
  "back to the own host": {
    ...{ action: "user.grant", kind: "gives" },
    prepare: async (context, world) => {
      const subject = await newUser(context, world, 1);
      await setUserHosts(context, subject.id, { hosts: [ELSEWHERE], groups: [] });
      return subject;
    },
    act: request(({ id }) => ["PUT", `/users/${id}/hosts`, { hosts: ["local"], groups: [] }]),
    isDone: (state) => state?.local === true,
  },
  "uam lock": {
    ...{ action: "user.disable", kind: "takes" },
    prepare: withKeys(1),
    act: async (world, { name }) => {
      const { child, output } = world.command(["lock", name]);
      const text = await output;
      return child.signalCode === null ? { status: child.exitCode === 0 ? 200 : 500, text } : undefined;
    },
    isDone: (state) => state?.status === "disabled",
  },
};

/** What is stored of the user; undefined where nothing is. */
export async function stateOf(world: World, name: string): Promise<State | undefined> {
  const [row] = await world.sql(`
    select status, purpose, to_char(expire_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as expire_at,
      array_to_string(source_networks, ' ') as networks, hours is not null as hours,
      (select coalesce(json_agg(k.id || ' ' || k.name || ' ' || array_to_string(k.source_networks, ' ') order by k.id), '[]')
        from ssh_keys k where k.user_id = u.id and k.status = 'active') as keys,
      exists (select from accounts a where a.user_id = u.id) and (
        exists (select from grants g where g.user_id = u.id and g.host_id = 1) or
        exists (select from grants g join host_group_members m using (group_id) where g.user_id = u.id and m.host_id = 1)
      ) as local
    from users u where username = '${name}'`);
  if (row === undefined) return undefined;
  const { expire_at: expireAt, ...rest } = row;
  return { ...rest, expireAt } as unknown as State;
}
