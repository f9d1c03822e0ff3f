/** Who uses the service: users who upload keys, administrators who change and close what they have, and logins on every host. */

import { freshKey } from "../../../support/keys.ts";
import type { Random } from "../../closings/random.ts";
import type { Deed } from "../format.ts";
import type { TestHost } from "./hosts.ts";
import type { Recorder } from "./record.ts";
import type { Answer, Ask, Caller } from "./service.ts";
import { drawHours } from "./windows.ts";

export interface Clients {
  /** Resolves once nobody changes anything; logins go on. */
  pause(): Promise<void>;
  resume(): void;
  /** Everybody begins with another user: the database was set back. */
  startAnew(): void;
  /** The ids of the users that somebody is working with, by name. */
  users(): ReadonlyMap<string, number>;
  stop(): void;
}

export interface ClientsParts {
  readonly ask: Ask;
  readonly recorder: Recorder;
  readonly random: Random;
  readonly hosts: readonly TestHost[];
  readonly codeFor: (username: string) => Promise<string>;
  /** Milliseconds between two logins of one process at one host. */
  readonly pace: number;
  /** Whether accesses have a beginning, an end soon, and hours. */
  readonly hours: boolean;
}

interface Key {
  readonly name: string;
  readonly blob: string;
  id: number;
  isActive: boolean;
}

interface User {
  readonly name: string;
  readonly id: number;
  readonly keys: Key[];
  /** Of a session; "" for none. */
  cookie: string;
  from: number;
}

const MINUTE = 60_000;
const LONG = 30 * 24 * 60 * MINUTE;
/** Users whose keys are tried. */
const REMEMBERED = 40;

export function startClients(parts: ClientsParts, makers: number): Clients {
  const { ask, recorder, random, hosts, codeFor, pace, hours: hasHours } = parts;
  const known: User[] = [];
  /** Whom others change as well, and whom they leave alone. */
  const current = new Map<string, User>();
  const steady = new Map<string, User>();
  let gate: PromiseWithResolvers<void> | undefined;
  let underWay = 0;
  let age = 0;
  let isOver = false;

  /** Nothing, once there is a gate, before it has opened. */
  async function change(process: string, deed: Deed, call: Caller): Promise<Answer | undefined> {
    while (gate !== undefined) await gate.promise;
    underWay++;
    try {
      return await recorder.during(process, deed, () => ask(call));
    } finally {
      underWay--;
    }
  }
  async function login(process: string, host: TestHost, user: User, key: Key): Promise<void> {
    const deed = { do: "login", user: user.name, key: key.name, host: host.name } as const;
    await recorder.during(process, deed, () => ({ e: host.letsIn(`ext_${user.name}`, key.blob) ? "ok" : "fail" }));
  }
  /** What was just closed is tried everywhere at once. */
  async function tryAll(process: string, user: User): Promise<void> {
    for (const key of user.keys.slice(-3)) for (const host of hosts) await login(process, host, user, key);
  }

  async function create(process: string, name: string, isSteady: boolean): Promise<User | undefined> {
    const now = recorder.now();
    const from = hasHours && !isSteady && random.onceIn(6) ? whole(now + 3000 + random.below(8000)) : 0;
    const to =
      hasHours && !isSteady && random.onceIn(3) ? whole(now + 15_000 + random.below(45_000)) : whole(now + LONG);
    const body = {
      ...{ username: name, email: `${name}@example.org`, expire_at: dateOf(to) },
      ...(from === 0 ? {} : { starts_at: dateOf(from) }),
    };
    const deed = { do: "create", user: name, hosts: hosts.map((host) => host.name), from, to } as const;
    const made = await change(process, deed, { method: "POST", path: "/users", body });
    if (made?.e !== "ok") return undefined;
    const user: User = { name, id: made.data.id, keys: [], cookie: "", from };
    known.push(user);
    if (known.length > REMEMBERED) known.shift();
    return user;
  }
  async function logIn(user: User): Promise<void> {
    while (gate !== undefined) await gate.promise;
    const code = await codeFor(user.name);
    const answer = await ask({ method: "POST", path: "/auth/otp/login", body: { username: user.name, code } });
    user.cookie = answer.cookie;
  }
  async function upload(process: string, user: User): Promise<void> {
    if (user.cookie === "") await logIn(user);
    if (user.cookie === "") return;
    const text = freshKey();
    const key: Key = {
      name: `${user.name}.${user.keys.length + 1}`,
      blob: text.split(" ")[1] ?? "",
      id: 0,
      isActive: false,
    };
    user.keys.push(key);
    const body = { name: key.name, public_key: text };
    const deed = { do: "upload", user: user.name, key: key.name } as const;
    const made = await change(process, deed, { method: "POST", path: "/me/keys", cookie: user.cookie, body });
    if (made?.status === 401) user.cookie = "";
    if (made?.e === "ok") Object.assign(key, { id: made.data.id, isActive: true });
  }
  async function revoke(process: string, user: User): Promise<void> {
    const key = user.keys.find(({ isActive }) => isActive);
    if (key === undefined) return;
    key.isActive = false;
    const call = { method: "DELETE", path: `/users/${user.id}/keys/${key.id}` } as const;
    await change(process, { do: "revoke", user: user.name, key: key.name }, call);
    await tryAll(process, user);
  }
  async function setHosts(process: string, user: User): Promise<void> {
    const some = hosts.filter(() => random.onceIn(2)).map((host) => host.name);
    const named = some.length === 0 ? [random.pick(hosts).name] : some;
    const call = { method: "PUT", path: `/users/${user.id}/hosts`, body: { hosts: named, groups: [] } } as const;
    await change(process, { do: "hosts", user: user.name, hosts: named }, call);
    await tryAll(process, user);
  }
  async function setHours(process: string, user: User): Promise<void> {
    const { hours, windows } = drawHours(random, recorder);
    const call = { method: "PATCH", path: `/users/${user.id}`, body: { hours } } as const;
    await change(process, { do: "hours", user: user.name, windows }, call);
    await tryAll(process, user);
  }
  async function setEnd(process: string, user: User): Promise<void> {
    const to = whole(recorder.now() + (random.onceIn(2) ? 10_000 + random.below(30_000) : LONG));
    const call = { method: "POST", path: `/users/${user.id}/extend`, body: { until: dateOf(to) } } as const;
    await change(process, { do: "term", user: user.name, from: user.from, to }, call);
    await tryAll(process, user);
  }
  async function simply(process: string, user: User, name: "disable" | "enable" | "delete"): Promise<void> {
    const path = name === "delete" ? `/users/${user.id}` : `/users/${user.id}/${name}`;
    const call = { method: name === "delete" ? "DELETE" : "POST", path } as const;
    const answer = await change(process, { do: name, user: user.name }, call);
    // Whoever is at the end of their time gets more, or nothing more would happen to them.
    if (answer?.why?.includes("user.expired")) await setEnd(process, user);
    await tryAll(process, user);
  }
  async function something(process: string, user: User, isSteady: boolean): Promise<void> {
    const drawn = random.below(isSteady ? 60 : 100);
    if (drawn < 32) await upload(process, user);
    else if (drawn < 60) await revoke(process, user);
    else if (drawn < 70) await simply(process, user, "disable");
    else if (drawn < 80) await simply(process, user, "enable");
    else if (drawn < 88 || !hasHours) await setHosts(process, user);
    else if (drawn < 95) await setHours(process, user);
    else await setEnd(process, user);
  }

  /** Who is steady has their access all the time, and only their keys come and go. */
  async function live(process: string, isSteady: boolean): Promise<void> {
    for (let count = 0; !isOver; count++) {
      const name = `${process}-${count}`;
      const born = age;
      const user = await create(process, name, isSteady);
      if (user === undefined) {
        await Bun.sleep(500);
        continue;
      }
      (isSteady ? steady : current).set(name, user);
      await upload(process, user);
      for (let left = 10 + random.below(40); left > 0 && born === age && !isOver; left--) {
        await something(process, user, isSteady);
        await Bun.sleep(50 + random.below(300));
      }
      for (const each of [steady, current]) each.delete(name);
      if (born !== age || isOver) continue;
      if (random.onceIn(2)) await simply(process, user, "delete");
      else await simply(process, user, "disable");
    }
  }
  /** Somebody who changes other people's users while they do it themselves. */
  async function interfere(process: string): Promise<void> {
    while (!isOver) {
      await Bun.sleep(300 + random.below(1500));
      const user = current.size === 0 ? undefined : random.pick([...current.values()]);
      if (user === undefined) continue;
      const drawn = random.below(4);
      if (drawn === 0) await simply(process, user, "disable");
      else if (drawn === 1) await setHosts(process, user);
      else await simply(process, user, "enable");
    }
  }
  async function look(process: string, host: TestHost): Promise<void> {
    while (!isOver) {
      await Bun.sleep(pace / 2 + random.below(pace));
      const users = random.onceIn(3) ? known : known.slice(-2 * makers);
      const user = users.length === 0 ? undefined : random.pick(users);
      if (user === undefined || user.keys.length === 0) continue;
      await login(process, host, user, random.pick(user.keys));
    }
  }

  for (let maker = 1; maker <= makers; maker++) void live(`c${maker}`, maker <= makers / 2);
  void interfere("other");
  for (const host of hosts) void look(`look-${host.name}`, host);

  function dateOf(time: number): string {
    return new Date(Math.round(recorder.dateAt(time) / 1000) * 1000).toISOString();
  }
  /** The time of a whole second of the service's clock. */
  function whole(time: number): number {
    return recorder.at(Math.round(recorder.dateAt(time) / 1000) * 1000);
  }
  return {
    async pause() {
      gate ??= Promise.withResolvers();
      while (underWay > 0) await Bun.sleep(20);
    },
    resume() {
      const open = gate;
      gate = undefined;
      open?.resolve();
    },
    startAnew: () => {
      age++;
      for (const each of [steady, current]) each.clear();
    },
    users: () => new Map([...steady.values(), ...current.values()].map(({ name, id }) => [name, id])),
    stop: () => {
      isOver = true;
    },
  };
}
