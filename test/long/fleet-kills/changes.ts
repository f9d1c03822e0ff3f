/** Who changes something without a pause, and remembers what was answered with success. What is closed here is never opened again. */

import { freshKey } from "../../support/keys.ts";
import { makeWindows, type Window } from "./windows.ts";

export interface Told {
  readonly did: "user.create" | "user.disable" | "user.delete" | "key.create" | "key.revoke";
  /** A username, or a key's fingerprint. */
  readonly what: string;
  /** Milliseconds, of the monotonic clock. */
  readonly at: number;
}

export interface Changes {
  /** In the order of the answers. */
  readonly told: readonly Told[];
  readonly answers: ReadonlyMap<string, number>;
  /** By the name of the account: outside of them nobody is ever let in. */
  readonly windows: ReadonlyMap<string, Window>;
  /** Resolves once nobody has a request under way. */
  pause(): Promise<void>;
  resume(): void;
  /** Forgets what was told after that moment: the database was set back. Who had been logged in has to do so again, and the token is another. */
  forgetAfter(at: number, token: string): void;
  /** One call of the API with the token, tried again for half a minute while nobody can serve it; the status and what was answered. */
  insist(method: string, path: string): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the API's payloads of every shape
  readonly data: any;
}

export interface ChangesParts {
  /** Where the API is. */
  readonly origin: string;
  readonly token: string;
  /** A one-time code for the user. */
  readonly codeFor: (username: string) => Promise<string>;
}

const PATIENCE = 30_000;
const TRIES = 60;

/** How many do what without a pause. */
export interface Makers {
  /** Make users, disable and delete them. */
  readonly users: number;
  /** Upload and revoke keys. */
  readonly keys: number;
  /** Make users with hours. */
  readonly windows: number;
}

export function startChanges({ origin, codeFor, ...parts }: ChangesParts, makers: Makers): Changes {
  let { token } = parts;
  let told: Told[] = [];
  const answers = new Map<string, number>();
  const cookies = new Map<string, string>();
  const windows = new Map<string, Window>();
  let gate: PromiseWithResolvers<void> | undefined;
  let underWay = 0;

  async function call(method: string, path: string, cookie = "", body?: unknown): Promise<Answer> {
    await gate?.promise;
    return await now(method, path, cookie, body);
  }
  async function now(method: string, path: string, cookie = "", body?: unknown): Promise<Answer> {
    underWay++;
    try {
      const response = await fetch(`${origin}/api/v1${path}`, {
        method,
        headers: {
          ...(cookie === "" ? { authorization: `Bearer ${token}` } : { cookie }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE),
      });
      const { status, headers } = response;
      const answer = `${status} ${headers.get("uam-error") ?? ""}`.trim();
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      const set = headers.get("set-cookie")?.split(";")[0] ?? "";
      const { data } = (await response.json()) as { data?: object };
      return { status, data: set === "" ? data : { ...data, cookie: set } };
    } catch {
      answers.set("none", (answers.get("none") ?? 0) + 1);
      return { status: 0, data: undefined };
    } finally {
      underWay--;
    }
  }
  /** Until it is done, or was done by a try whose answer was lost: only what is answered with success counts as told. */
  async function until(did: Told["did"], what: string, ask: () => Promise<Answer>): Promise<Answer | undefined> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const answer = await ask();
      if (answer.status === 200 || answer.status === 201) {
        told.push({ did, what: answer.data.fingerprint ?? what, at: performance.now() });
        return answer;
      }
      if (answer.status === 404 || answer.status === 409 || answer.status === 401) return answer;
      await Bun.sleep(200);
    }
    return undefined;
  }
  const pause = () => Bun.sleep(100 + Math.random() * 800);

  async function makeUsers(maker: number): Promise<never> {
    for (let count = 0; ; count++) {
      const username = `u${maker}-${count}`;
      const user = { username, email: `${username}@example.org` };
      const made = await until("user.create", username, () => call("POST", "/users", "", user));
      const id = made?.status === 201 ? made.data.id : await find(username);
      if (id === undefined) continue;
      await pause();
      await until("user.disable", username, () => call("POST", `/users/${id}/disable`));
      await pause();
      await until("user.delete", username, () => call("DELETE", `/users/${id}`));
    }
  }
  async function find(username: string): Promise<number | undefined> {
    const { data } = await call("GET", `/users?q=${username}`);
    return data?.items?.find((user: { username: string }) => user.username === username)?.id;
  }
  async function cookieOf(username: string): Promise<string> {
    const known = cookies.get(username);
    if (known !== undefined) return known;
    await gate?.promise;
    const { data } = await call("POST", "/auth/otp/login", "", { username, code: await codeFor(username) });
    if (data?.cookie === undefined) return "";
    cookies.set(username, data.cookie);
    return data.cookie;
  }
  async function makeKeys(maker: number): Promise<never> {
    const username = `k${maker}`;
    const user = { username, email: `${username}@example.org` };
    await until("user.create", username, () => call("POST", "/users", "", user));
    for (;;) {
      const id = await find(username);
      const cookie = await cookieOf(username);
      if (id === undefined || cookie === "") {
        await Bun.sleep(1000);
        continue;
      }
      const body = { name: "laptop", public_key: freshKey() };
      const made = await until("key.create", "", () => call("POST", "/me/keys", cookie, body));
      if (made?.status === 401) cookies.delete(username);
      if (made?.status !== 201) continue;
      const { id: key, fingerprint } = made.data;
      await pause();
      await until("key.revoke", fingerprint, () => call("DELETE", `/users/${id}/keys/${key}`));
    }
  }

  for (let maker = 0; maker < makers.users; maker++) void makeUsers(maker);
  for (let maker = 0; maker < makers.keys; maker++) void makeKeys(maker);
  for (let maker = 0; maker < makers.windows; maker++)
    void makeWindows(maker, { call, until, find, cookieOf }, windows);
  return {
    get told() {
      return told;
    },
    answers,
    windows,
    async pause() {
      gate ??= Promise.withResolvers();
      while (underWay > 0) await Bun.sleep(20);
    },
    resume() {
      gate?.resolve();
      gate = undefined;
    },
    forgetAfter(at, another) {
      token = another;
      told = told.filter((each) => each.at <= at);
      cookies.clear();
    },
    async insist(method, path) {
      for (let attempt = 1; ; attempt++) {
        const answer = await now(method, path);
        if ((answer.status !== 0 && answer.status < 500) || attempt === TRIES) return answer;
        await Bun.sleep(500);
      }
    },
  };
}
