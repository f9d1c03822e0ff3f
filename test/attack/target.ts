/** What is attacked: the built program with its own database, in dry-run, with users and everybody's way in. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshKey } from "../support/keys.ts";
import { type Service, startService } from "../support/service.ts";

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
  const limits = { UAM_LOCKOUT_PERIOD: "1s", UAM_CAPTCHA: "off", UAM_MAX_KEYS: "1000", ...variables };
  const service = await startService(directory, limits);
  const api = `${service.origin}/api/v1`;
  let password = printed(service, ["admin", "add", "boss", "--email", "boss@example.org"]);
  for (const name of USERS) service.run(["user", "create", name, "--email", `${name}@example.org`]);
  let admin = "";
  let entered = 0;

  async function administer(): Promise<string> {
    const session = await service.call("GET", "/auth/me", admin);
    if (session.status === 200) return admin;
    let login = await service.call("POST", "/auth/admin/login", "", { username: "boss", password });
    if (login.status !== 200) {
      // An attack that an owner may do: it changed the password, or removed the account.
      service.run(["admin", "add", "boss", "--email", "boss@example.org"]);
      password = printed(service, ["admin", "passwd", "boss"]);
      await Bun.sleep(1100);
      login = await service.call("POST", "/auth/admin/login", "", { username: "boss", password });
      if (login.status !== 200) throw new Error(`nobody can log in as the owner: ${JSON.stringify(login.body)}`);
    }
    admin = login.cookie;
    return admin;
  }

  async function enter(name: Caller["name"]): Promise<Caller> {
    if (name === "nobody") return { name, headers: {} };
    if (name === "owner") {
      const cookie = await administer();
      const token = await service.call("POST", "/tokens", cookie, { name: "attack", role: "owner", days: 3 });
      if (token.status !== 201) throw new Error(`no token for the owner: ${JSON.stringify(token.body)}`);
      return { name, headers: { authorization: `Bearer ${token.body.data.token}` } };
    }
    // Each time another user: a code is sent once a minute, and the one before may be locked or deleted by now.
    const username = `user${++entered}`;
    printed(service, ["user", "create", username, "--email", `${username}@example.org`]);
    const code = printed(service, ["otp", username]);
    const { cookie } = await service.call("POST", "/auth/otp/login", "", { username, code });
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
