import { expect, test } from "bun:test";
import type { UserState } from "../../../src/domain/wire/accounts-state.ts";
import { createHeldRequests, type News, tellHeld } from "../../../src/domain/wire/held-requests.ts";

const [OPEN, SHUT, ELSEWHERE] = [1, 2, 3];

function stateOf(user: number): UserState {
  const account = { name: `ext_${user}`, uid: 70_000 + user, keys: [] };
  return { user, state: { ...account, open: user === OPEN, expire_at: "2030-01-01T00:00:00Z" } };
}

test("tellHeld() reads each user of a held host once, and tells hosts with something to shut first", async () => {
  const requests = createHeldRequests();
  const told: number[] = [];
  const asked: (readonly number[])[] = [];
  const { signal } = new AbortController();
  for (const host of [10, 11, 12, 13]) {
    void requests.hold({ host, wait: 60, signal }).then(() => told.push(host));
  }
  const users = new Map([
    [OPEN, new Set([10, 11, 12])],
    [SHUT, new Set([12])],
    [ELSEWHERE, new Set([99])],
  ]);
  const news: News = { at: { id: 7, seal: "" }, users, removed: new Map(), whole: new Set() };
  const read = async (ids: readonly number[]) => {
    asked.push(ids);
    return ids.map(stateOf);
  };

  await tellHeld(requests, news, { read });
  await Promise.resolve();

  expect(asked).toEqual([[OPEN, SHUT]]);
  expect(told).toEqual([12, 10, 11]);
  expect(requests.hosts()).toEqual([13]);
  requests.release();
});
