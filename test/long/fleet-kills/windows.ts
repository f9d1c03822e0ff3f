/** Users whose access is open in one window of minutes, which begins and ends while everything around them is killed. */

import { freshKey } from "../../support/keys.ts";
import type { Answer, Told } from "./changes.ts";

/** Moments in milliseconds since 1970, whole minutes. */
export interface Window {
  readonly from: number;
  readonly to: number;
  /** Whether the service had stored it when it began. */
  readonly isInTime: boolean;
}

/** What one of them does, and is asked with; as in changes.ts. */
export interface Asking {
  call(method: string, path: string, cookie?: string, body?: unknown): Promise<Answer>;
  until(did: Told["did"], what: string, ask: () => Promise<Answer>): Promise<Answer | undefined>;
  find(username: string): Promise<number | undefined>;
  cookieOf(username: string): Promise<string>;
}

const MINUTE = 60_000;
/** Between two users of one maker, in milliseconds. */
const APART = 5000;
/** For so long after its end the account is looked at before its user is deleted. */
const AFTER = 20_000;

/**
 * Makes users without an end, each with a key and a window that begins within two minutes; every fourth is disabled before. `windows` has each by the name of the
 * account before anybody is asked for it.
 */
export async function makeWindows(maker: number, asking: Asking, windows: Map<string, Window>): Promise<never> {
  for (let count = 0; ; count++) {
    void live(`w${maker}-${count}`, count % 4 === 3);
    await Bun.sleep(APART * (0.5 + Math.random()));
  }

  async function live(username: string, isEndedBefore: boolean): Promise<void> {
    const from = Math.ceil((Date.now() + 15_000) / MINUTE + Math.floor(Math.random() * 2)) * MINUTE;
    const window = { from, to: from + (1 + Math.floor(Math.random() * 2)) * MINUTE, isInTime: false };
    windows.set(`ext_${username}`, window);
    const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    const hours = { zone: "UTC", windows: [{ days, from: clockOf(window.from), to: clockOf(window.to) }] };
    const user = { username, email: `${username}@example.org`, hours };
    const made = await asking.until("user.create", username, () => asking.call("POST", "/users", "", user));
    const id = made?.status === 201 ? made.data.id : await asking.find(username);
    if (id === undefined) return;
    windows.set(`ext_${username}`, { ...window, isInTime: Date.now() < from });
    const cookie = await asking.cookieOf(username);
    const body = { name: "laptop", public_key: freshKey() };
    if (cookie !== "") await asking.until("key.create", "", () => asking.call("POST", "/me/keys", cookie, body));
    await Bun.sleep((isEndedBefore ? window.from - 2000 : window.to + AFTER) - Date.now());
    await asking.until("user.disable", username, () => asking.call("POST", `/users/${id}/disable`));
    await Bun.sleep(Math.max(0, window.to + AFTER - Date.now()));
    await asking.until("user.delete", username, () => asking.call("DELETE", `/users/${id}`));
  }
}

/** The time of day in UTC. */
function clockOf(time: number): string {
  return new Date(time).toISOString().slice(11, 16);
}

/** When each account was first let in after its beginning, and was shut after its end, on each host. */
export interface Delays {
  readonly opened: number[];
  readonly shut: number[];
}

interface Looked {
  readonly name: string;
  readonly window: Window;
  /** Undefined where the host has no such account. */
  readonly account: { readonly open: boolean; readonly expireAt: string } | undefined;
  /** Before and after the host was looked at. */
  readonly before: number;
  readonly after: number;
}

/** Judges one host: what sshd, whose clock is this one, would do about a key of the account. */
export function createJudge(delays: Delays): (looked: Looked) => string | undefined {
  const hasOpened = new Set<string>();
  const hasShut = new Set<string>();
  const isFaulty = new Set<string>();
  const wrong = (name: string, how: string) => {
    if (isFaulty.has(name)) return undefined;
    isFaulty.add(name);
    return `${name} lets its keys in ${how} its window`;
  };
  return ({ name, window: { from, to, isInTime }, account, before, after }) => {
    const isOpen = account?.open === true;
    const admits = isOpen && before < Date.parse(account.expireAt);
    if (admits && after < from) return wrong(name, `${from - after} ms before`);
    if (admits && before >= to) return wrong(name, `${before - to} ms after`);
    if (admits && before >= from && !hasOpened.has(name)) {
      hasOpened.add(name);
      if (isInTime) delays.opened.push(before - from);
    }
    if (!isOpen && before >= to && hasOpened.has(name) && !hasShut.has(name)) {
      hasShut.add(name);
      delays.shut.push(before - to);
    }
    return undefined;
  };
}
