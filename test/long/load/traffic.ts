/** Clients that do what people and machines do all day, each with a user of its own, so that no answer depends on another client. */

import { freshKey } from "../../support/keys.ts";
import type { Random } from "../closings/random.ts";
import { AGENTS_GROUP, type Ground, PREFIX } from "./ground.ts";

/** A request as it went. */
export interface Sample {
  readonly at: number;
  readonly milliseconds: number;
  readonly what: string;
  /** 0: no answer, because the connection ended. */
  readonly status: number;
  readonly text: string;
  /** Whether this is what a service without a fault answers. */
  readonly expected: boolean;
}

export interface Traffic {
  readonly samples: Sample[];
  /** Clients that went away in the middle of an answer. */
  readonly left: () => number;
  stop(): Promise<void>;
}

interface Client {
  readonly number: number;
  readonly random: Random;
  username: string;
  userId: number;
  session: string;
  keyId: number;
  disabled: boolean;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly cookie: string;
  readonly body?: unknown;
  readonly expects: readonly number[];
}

/** How long a client waits before its next request, in milliseconds: at random, up to this. */
export interface Pace {
  readonly clients: number;
  readonly pause: number;
  /** One client in so many goes away in the middle of its request; 0: none. */
  readonly leavers: number;
  readonly random: (client: number) => Random;
}

let names = 0;

export function startTraffic(ground: Ground, password: { username: string; password: string }, pace: Pace): Traffic {
  const samples: Sample[] = [];
  let isStopping = false;
  let left = 0;

  async function ask(client: Client, what: string, asked: Asked) {
    const leaves = pace.leavers > 0 && client.random.onceIn(pace.leavers);
    const controller = new AbortController();
    const timer = leaves ? setTimeout(() => controller.abort(), client.random.below(40)) : undefined;
    const at = Date.now();
    const began = performance.now();
    let status = 0;
    let text = "";
    // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
    let data: any;
    let cookie = "";
    try {
      const response = await fetch(`${ground.service.origin}/api/v1${asked.path}`, {
        method: asked.method,
        headers: { cookie: asked.cookie, ...(asked.body === undefined ? {} : { "content-type": "application/json" }) },
        body: asked.body === undefined ? null : JSON.stringify(asked.body),
        signal: AbortSignal.any([controller.signal, AbortSignal.timeout(120_000)]),
      });
      text = await response.text();
      status = response.status;
      cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
      if (text.startsWith("{")) data = JSON.parse(text).data;
    } catch (error) {
      text = String(error);
    }
    clearTimeout(timer);
    if (leaves && status === 0) left++;
    const expected = asked.expects.includes(status) || (leaves && status === 0);
    const milliseconds = performance.now() - began;
    samples.push({ at, milliseconds, what, status, text: expected ? "" : text.slice(0, 300), expected });
    return { status, data, cookie, known: expected && status !== 0 };
  }

  const admin = (method: string, path: string, body?: unknown, expects: readonly number[] = [200]): Asked => ({
    ...{ method, path, cookie: ground.admin, expects },
    ...(body === undefined ? {} : { body }),
  });

  /** A new user that is logged in; undefined as long as something is in the way. */
  async function begin(client: Client): Promise<boolean> {
    if (client.userId > 0) {
      const gone = await ask(client, "delete user", admin("DELETE", `/users/${client.userId}`, undefined, [200, 404]));
      if (!gone.known) return false;
      client.userId = 0;
    }
    client.username = `${PREFIX}${client.number}x${++names}`;
    const email = `${client.username}@example.org`;
    const made = await ask(client, "create user", admin("POST", "/users", { username: client.username, email }, [201]));
    if (!made.known) return false;
    Object.assign(client, { userId: made.data.id, disabled: false, keyId: 0, session: "" });
    // A few have accounts on the hosts with agents too.
    if (client.number % 4 === 0) {
      const hosts = { hosts: ["local"], groups: [AGENTS_GROUP] };
      const given = await ask(client, "give hosts", admin("PUT", `/users/${client.userId}/hosts`, hosts));
      if (!given.known) return false;
    }
    const code = await printedCode(ground, client.username);
    const body = { username: client.username, code };
    const login = { method: "POST", path: "/auth/otp/login", cookie: "", body, expects: [200] };
    const session = code === "" ? undefined : await ask(client, "log in by code", login);
    client.session = session?.cookie ?? "";
    return client.session !== "";
  }

  async function change(client: Client): Promise<boolean> {
    const { userId, random } = client;
    if (client.disabled) {
      const { known } = await ask(client, "enable", admin("POST", `/users/${userId}/enable`));
      client.disabled = !known;
      // The session of before has ended.
      if (known) client.session = "";
      return known;
    }
    switch (random.below(4)) {
      case 0: {
        client.disabled = true;
        return (await ask(client, "disable", admin("POST", `/users/${userId}/disable`))).known;
      }
      case 1:
        return (await ask(client, "extend", admin("POST", `/users/${userId}/extend`, { days: 1 }))).known || true;
      default: {
        const purpose = `load ${random.below(1000)}`;
        return (await ask(client, "update", admin("PATCH", `/users/${userId}`, { purpose }))).known || true;
      }
    }
  }

  async function changeKey(client: Client): Promise<boolean> {
    const own = { cookie: client.session };
    if (client.keyId > 0) {
      const path = `/me/keys/${client.keyId}`;
      const { known } = await ask(client, "revoke key", { method: "DELETE", path, ...own, expects: [200] });
      client.keyId = 0;
      return known;
    }
    if (client.disabled) return await change(client);
    const body = { name: "laptop", public_key: freshKey() };
    const { known, data } = await ask(client, "add key", {
      method: "POST",
      path: "/me/keys",
      ...own,
      body,
      // A client that does not pause makes more than the 60 changes a minute that a user may.
      expects: [201, 429],
    });
    if (known) client.keyId = data?.id ?? 0;
    return known;
  }

  async function step(client: Client): Promise<boolean> {
    const { random, session, userId } = client;
    const draw = random.below(1000);
    const read = async (what: string, path: string, cookie = ground.admin) => {
      await ask(client, what, { method: "GET", path, cookie, expects: [200] });
      return true;
    };
    if (draw < 150) return await read("list users", `/users?page_size=20&page=${1 + random.below(3)}`);
    if (draw < 300) return await read("read user", `/users/${userId}`);
    if (draw < 420) return await read("list audit", `/audit?page_size=20&page=${1 + random.below(50)}`);
    if (draw < 480) return await read("statistics", "/admin/stats");
    if (draw < 620) return await read("own account", "/me", session);
    if (draw < 720) return await read("own keys", "/me/keys", session);
    if (draw < 770) return await read("own audit", "/me/audit", session);
    if (draw < 880) return await changeKey(client);
    if (draw < 970) return await change(client);
    if (draw < 980) {
      const path = "/auth/admin/login";
      await ask(client, "administrator's login", { method: "POST", path, cookie: "", body: password, expects: [200] });
      return true;
    }
    if (draw < 984) {
      const since = new Date(Date.now() - 120_000).toISOString();
      // At most two run at once, by design.
      const exported = {
        method: "GET",
        path: `/audit/export?since=${since}`,
        cookie: ground.admin,
        expects: [200, 429],
      };
      await ask(client, "export", exported);
      return true;
    }
    if (draw < 992) return await begin(client);
    return await read("health", "/healthz", "");
  }

  const working = Array.from({ length: pace.clients }, async (_, number) => {
    const random = pace.random(number);
    const client: Client = { number, random, username: "", userId: 0, session: "", keyId: 0, disabled: false };
    let ready = false;
    while (!isStopping) {
      // After a failure its user is in a state that only the service knows: another one takes its place.
      ready = ready ? await step(client) : await begin(client);
      await Bun.sleep(ready ? random.below(2 * pace.pause + 1) : 500);
    }
    if (client.userId > 0)
      await ask(client, "delete user", admin("DELETE", `/users/${client.userId}`, undefined, [200, 404]));
  });
  return {
    samples,
    left: () => left,
    stop: async () => {
      isStopping = true;
      await Promise.all(working);
    },
  };
}

async function printedCode(ground: Ground, username: string): Promise<string> {
  const { status, stdout } = await ground.command("otp", username);
  return status === 0 ? stdout : "";
}
