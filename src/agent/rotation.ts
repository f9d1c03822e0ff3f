/** The agent's own key, changed each month. Both keys are kept until the service has shown which of them it knows. */

import { Buffer } from "node:buffer";
import { sign } from "node:crypto";
import { AGENT_ROUTES } from "../protocol/fleet.ts";
import { publicBytes, rotationBytes, signingKey } from "../protocol/fleet-signature.ts";
import type { Log } from "../shared/log.ts";
import type { Clock } from "../shared/time/clock.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import { require2xx, type ServiceClient } from "./client.ts";
import { type AgentIdentity, adoptNextKey, makeNextKey, readKeys, writeIdentity } from "./store.ts";

export interface KeyRotation {
  isDue(): boolean;
  /** Throws as the client does; the next attempt is then due only after a while. */
  rotate(): Promise<void>;
  /** The service answered to the key in use. */
  confirmed(): void;
  /** The service does not know the key in use: after a crash in the middle of a rotation it may know the other. */
  tryOther(): void;
}

export function createKeyRotation(parts: {
  readonly directory: string;
  readonly identity: AgentIdentity;
  readonly client: ServiceClient;
  readonly clock: Clock;
  readonly log: Log;
  /** In milliseconds: a key's age, and after an attempt that failed. */
  readonly timing: { readonly rotate: number; readonly report: number };
}): KeyRotation {
  const { directory, client, clock, log, timing } = parts;
  let { identity } = parts;
  let isNext = false;
  let notBefore = 0;

  function adopt(seed: Uint8Array): void {
    adoptNextKey(directory);
    faultPoint("agent: next key adopted, not dated");
    identity = { ...identity, key_since: formatTimestamp(clock.now()) };
    writeIdentity(directory, identity);
    client.useKey(seed);
    log.info("the agent has a new key");
  }

  return {
    isDue: () =>
      clock.now().getTime() - Date.parse(identity.key_since) > timing.rotate && performance.now() >= notBefore,
    rotate: async () => {
      notBefore = performance.now() + timing.report;
      const { present } = readKeys(directory);
      if (present === undefined) return;
      const seed = makeNextKey(directory);
      const key = signingKey(seed);
      const signature = sign(null, rotationBytes(identity.host_id, publicBytes(signingKey(present))), key);
      const public_key = Buffer.from(publicBytes(key)).toString("base64");
      const body = { public_key, signature: signature.toString("base64") };
      faultPoint("agent: next key kept, not sent");
      require2xx(await client.ask({ method: "POST", target: AGENT_ROUTES.rotate, body }));
      faultPoint("agent: next key sent, not adopted");
      adopt(seed);
    },
    confirmed: () => {
      const { next } = readKeys(directory);
      if (isNext && next !== undefined) adopt(next);
      isNext = false;
    },
    tryOther: () => {
      const { present, next } = readKeys(directory);
      const other = isNext ? present : next;
      if (other === undefined) return;
      isNext = !isNext;
      client.useKey(other);
    },
  };
}
