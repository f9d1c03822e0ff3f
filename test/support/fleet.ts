/** Hosts with agents for an application under test. */

import { acceptHistory } from "../../src/domain/recovery/divergence.ts";
import { fleetSecrets } from "../../src/domain/wire/fleet-key.ts";
import { createJoinToken, type NewJoinToken } from "../../src/domain/wire/join-tokens.ts";
import type { App } from "../../src/server/api/app.ts";
import { createAgent, type Reach, type TestAgent } from "./agent.ts";
import type { TestApp } from "./app.ts";

export { acceptHistory };

/** Reaches an application in this process. */
export function reachOf(app: App, peer = "192.0.2.77"): Reach {
  return (target, init) => app.fetch(new Request(`http://127.0.0.1:8080/api/v1${target}`, init), peer);
}

/** The token of a line that joins a host. */
export async function joinToken(t: Pick<TestApp, "system">, wanted: NewJoinToken = {}): Promise<string> {
  const { line } = await createJoinToken(t.system, wanted);
  return line.split(" ")[1] ?? "";
}

/** An agent that is not joined. */
export function newAgent(t: Pick<TestApp, "app" | "services">, name?: string): TestAgent {
  return createAgent(reachOf(t.app), fleetSecrets(t.services.seal).publicKey, name);
}

/** An agent of a host that is in the default group, unless another or none ("") is named. */
export async function joinedAgent(t: TestApp, name: string, group = "default"): Promise<TestAgent> {
  const agent = newAgent(t, name);
  const answer = await agent.enrol(await joinToken(t, group === "" ? {} : { group }));
  if (answer.status !== 201) throw new Error(`${name} could not join: ${answer.error}`);
  return agent;
}
