/** What is attacked: the built program with its own database, in dry-run, with users and everybody's way in. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshKey } from "../../support/keys.ts";
import { type Service, startService } from "../../support/service.ts";

/** Who asks, and what they send besides. */
export interface Caller {
  readonly name: "owner" | "user" | "nobody";
  readonly headers: Readonly<Record<string, string>>;
}

export interface Target {
  readonly service: Service;
  /** The API's root. */
  readonly api: string;
  /** Logs in anew: an attack may have ended what there was. */
  enter(name: Caller["name"]): Promise<Caller>;
  stop(): Promise<void>;
}

/** Users that are there from the beginning. */
export const USERS = ["alice", "bob", "carol"] as const;

/** Starts it in a directory of its own. */
export async function startTarget(variables: Record<string, string> = {}): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), "uam-attack-"));
  // What is tried is what a caller reaches; the limits on guessing would only make it slow.
  const limits = {
    UAM_LOCKOUT_PERIOD: "1s",
    UAM_CAPTCHA: "off",
    UAM_MAX_KEYS: "1000",
    UAM_TRUSTED_PROXIES: "127.0.0.1",
    ...variables,
  };
  const service = await startService(directory, limits);
  const api = `${service.origin}/api/v1`;
  printed(service, ["admin", "add", "boss", "--email", "boss@example.org"]);
  for (const name of USERS) service.run(["user", "create", name, "--email", `${name}@example.org`]);
  let entered = 0;

  /** Each from an address of its own: what one may try is limited. */
  async function logIn(username: string, code: string): Promise<string> {
    const from = `10.${entered >> 16}.${(entered >> 8) & 255}.${entered & 255}`;
    const headers = { "content-type": "application/json", "x-forwarded-for": from };
    const response = await fetch(`${api}/auth/otp/login`, {
      method: "POST",
      headers,
      body: JSON.stringify({ username, code }),
    });
    const cookie = response.headers.get("set-cookie")?.split(";")[0];
    if (cookie === undefined) throw new Error(`${username} cannot log in: ${await response.text()}`);
    return cookie;
  }

  async function enter(name: Caller["name"]): Promise<Caller> {
    if (name === "nobody") return { name, headers: {} };
    if (name === "owner") {
      // An owner may do that in an attack: remove the account. At the shell no limit of logins is in the way.
      service.run(["admin", "add", "boss", "--email", "boss@example.org"]);
      const how = ["--role", "owner", "--days", "3", "--owner", "boss"];
      return { name, headers: { authorization: `Bearer ${printed(service, ["token", "create", ...how, "attack"])}` } };
    }
    // Each time another user: a code is sent once a minute, and the one before may be locked or deleted by now.
    const username = `user${++entered}`;
    printed(service, ["user", "create", username, "--email", `${username}@example.org`]);
    const code = printed(service, ["otp", username]);
    const cookie = await logIn(username, code);
    await service.call("POST", "/me/keys", cookie, { name: "first", public_key: freshKey() });
    return { name, headers: { cookie } };
  }

  return {
    service,
    api,
    enter,
    stop: async () => {
      await service.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What the command printed last; throws if it failed. */
function printed(service: Service, args: readonly string[]): string {
  const { status, stdout, stderr } = service.run(args);
  if (status !== 0) throw new Error(`uam ${args.join(" ")} ended with ${status}: ${stderr}`);
  return stdout.trim().split("\n").at(-1) ?? "";
}
