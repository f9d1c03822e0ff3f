/** Every operation that changes a user, as somebody asks for it. */

import type { Job, PairAnswer, Replica, State, Subject, World } from "./world.ts";

export interface PairOperation {
  /** The states of a user in which it is tried. */
  readonly states: readonly State[];
  readonly run: (world: World, replica: Replica, subject: Subject) => Promise<PairAnswer>;
  /** Its answer is read after it committed, and shows what others did then: it is not compared. */
  readonly answersLater?: boolean;
}

/** The group that no host is in. */
export const EMPTY_GROUP = "elsewhere";

const ALL: readonly State[] = ["active", "disabled", "due", "expired", "recyclable", "away"];

type Asked = (subject: Subject, world: World) => readonly [method: string, path: string, body?: unknown];

const asAdmin =
  (asked: Asked): PairOperation["run"] =>
  async (world, replica, subject) => {
    const [method, path, body] = asked(subject, world);
    return await world.call(replica, { method, path, cookie: world.admin, body });
  };

const asUser =
  (asked: Asked): PairOperation["run"] =>
  async (world, replica, subject) => {
    const [method, path, body] = asked(subject, world);
    return await world.call(replica, { method, path, cookie: subject.session, body });
  };

const asJob =
  (job: Job): PairOperation["run"] =>
  (world, replica, subject) =>
    world.job(replica, job, subject);

const person = ({ username }: Subject) => ({ username, email: `${username}@example.org` });

/** A user who is not expired has 90 days at first. */
const endIn = ({ startedAt }: Subject, days: number) => ({
  until: new Date(startedAt.getTime() + days * 86_400_000).toISOString(),
});

/** By name; those of one group differ in what they change. */
export const OPERATIONS: Readonly<Record<string, PairOperation>> = {
  create: { states: ["active", "nobody"], run: asAdmin((s) => ["POST", "/users", { ...person(s), ttl_days: 0 }]) },
  update: { states: ALL, run: asAdmin(({ userId }) => ["PATCH", `/users/${userId}`, { purpose: "changed" }]) },
  "update another field": {
    states: ["active"],
    run: asAdmin(({ userId }) => ["PATCH", `/users/${userId}`, { supervisor: "somebody else" }]),
  },
  "narrow user": {
    states: ["active", "disabled", "due", "away"],
    run: asAdmin(({ userId }) => ["PATCH", `/users/${userId}`, { source_networks: ["192.0.2.0/24"] }]),
  },
  disable: {
    states: ["active", "disabled", "due", "away"],
    run: asAdmin(({ userId }) => ["POST", `/users/${userId}/disable`]),
  },
  enable: {
    states: ["active", "disabled", "due", "away"],
    run: asAdmin(({ userId }) => ["POST", `/users/${userId}/enable`]),
  },
  extend: { states: ALL, run: asAdmin(({ userId }) => ["POST", `/users/${userId}/extend`, { days: 10 }]) },
  "bring the end forward": { states: ALL, run: asAdmin((s) => ["POST", `/users/${s.userId}/extend`, endIn(s, 5)]) },
  "put the end off": { states: ALL, run: asAdmin((s) => ["POST", `/users/${s.userId}/extend`, endIn(s, 95)]) },
  delete: { states: ALL, run: asAdmin(({ userId }) => ["DELETE", `/users/${userId}`]) },
  "lock by owner": { states: ["active", "disabled", "due", "expired"], run: asUser(() => ["POST", "/me/lock"]) },
  "add key": {
    states: ["active", "disabled", "due", "away"],
    run: asUser(({ fresh }) => ["POST", "/me/keys", { name: "fresh", public_key: fresh[0] }]),
  },
  "add another key": {
    states: ["active"],
    run: asUser(({ fresh }) => ["POST", "/me/keys", { name: "fresh too", public_key: fresh[1] }]),
  },
  "revoke key": {
    states: ["active", "disabled", "due", "away"],
    run: asUser(({ keyIds }) => ["DELETE", `/me/keys/${keyIds[0]}`]),
  },
  "revoke another key": { states: ["active"], run: asUser(({ keyIds }) => ["DELETE", `/me/keys/${keyIds[1]}`]) },
  "revoke key as administrator": {
    states: ["active"],
    run: asAdmin(({ userId, keyIds }) => ["DELETE", `/users/${userId}/keys/${keyIds[0]}`]),
  },
  "rename key": {
    states: ["active", "disabled"],
    run: asUser(({ keyIds }) => ["PATCH", `/me/keys/${keyIds[0]}`, { name: "renamed" }]),
  },
  "narrow key": {
    states: ["active"],
    run: asUser(({ keyIds }) => ["PATCH", `/me/keys/${keyIds[0]}`, { source_networks: ["192.0.2.0/25"] }]),
  },
  approve: {
    states: ["active", "nobody"],
    run: asAdmin(({ application }) => ["POST", `/approvals/${application}/review`, { approve: true }]),
  },
  reject: {
    states: ["nobody"],
    run: asAdmin(({ application }) => ["POST", `/approvals/${application}/review`, { approve: false, reason: "no" }]),
  },
  apply: {
    states: ["nobody"],
    run: (world, replica, subject) =>
      world.call(replica, { method: "POST", path: "/approvals", cookie: "", body: person(subject) }),
  },
  "ask for time": {
    states: ["active", "due", "expired"],
    run: asUser(() => ["POST", "/me/extension", { days: 5, reason: "more to do" }]),
  },
  "grant time": {
    states: ["active", "due", "expired"],
    run: asAdmin(({ extension }) => ["POST", `/approvals/${extension}/review`, { approve: true }]),
  },
  "refuse time": {
    states: ["active", "expired"],
    run: asAdmin(({ extension }) => ["POST", `/approvals/${extension}/review`, { approve: false, reason: "no" }]),
  },
  "give hosts": {
    states: ["active", "away", "disabled"],
    answersLater: true,
    run: asAdmin(({ userId }, { localHost }) => ["PUT", `/users/${userId}/hosts`, { hosts: [localHost], groups: [] }]),
  },
  "take hosts": {
    states: ["active", "away", "disabled"],
    answersLater: true,
    run: asAdmin(({ userId }) => ["PUT", `/users/${userId}/hosts`, { hosts: [], groups: [EMPTY_GROUP] }]),
  },
  "set policy": {
    states: ["active", "nobody"],
    run: asAdmin(() => ["PUT", "/settings", { key: "policy.default_ttl", value: "30d" }]),
  },
  "set recycle period": {
    states: ["expired", "recyclable"],
    run: asAdmin(() => ["PUT", "/settings", { key: "policy.recycle_period", value: "60d" }]),
  },
  expire: { states: ["due", "active"], run: asJob("expire") },
  recycle: { states: ["recyclable"], run: asJob("recycle") },
  reconcile: { states: ["active", "disabled", "due", "away"], run: asJob("reconcile") },
  compare: { states: ["active", "disabled", "away"], run: asJob("compare") },
  purge: { states: ["active"], run: asJob("purge") },
};

/** Two operations and the state of the user that they meet on. */
export interface Pair {
  readonly name: string;
  readonly state: State;
  readonly operations: readonly [PairOperation, PairOperation];
  /** Whether one of them is the comparison with the host. */
  readonly withDrift: boolean;
}

/** Every two operations, each with itself too, in every state in which both are tried; of those named by `only`, if it is given. */
export function allPairs(only: (operation: string) => boolean = () => true): readonly Pair[] {
  const names = Object.keys(OPERATIONS).filter(only);
  return names.flatMap((first, index) =>
    names.slice(index).flatMap((second) => {
      const operations = [operation(first), operation(second)] as const;
      const states = operations[0].states.filter((state) => operations[1].states.includes(state));
      const withDrift = first === "reconcile" || second === "reconcile";
      return states.map((state) => ({ name: `${first} × ${second}, ${state}`, state, operations, withDrift }));
    }),
  );
}

function operation(name: string): PairOperation {
  const found = OPERATIONS[name];
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return found;
}
