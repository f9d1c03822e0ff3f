/** Joins a host to a service, or to its stub, as `uam agent join` does, but for the host itself: nothing of it is changed. */

import type { Send } from "../../src/agent/client.ts";
import { joinService, meetService, parseJoinLine } from "../../src/agent/joining.ts";
import { systemClock } from "../../src/shared/time/clock.ts";

export interface Joining {
  /** The agent's, which holds its identity and key from then on. */
  readonly directory: string;
  /** What `uam host token` printed. */
  readonly line: string;
  readonly name: string;
  /** How clients call its sshd; its name by default. */
  readonly sshHost?: string;
  /** Where the service is reached, if not where the line says. */
  readonly service?: string;
  readonly send?: Send;
}

export async function joinHost({ directory, line: text, name, sshHost = name, service, send }: Joining): Promise<void> {
  const line = { ...parseJoinLine(text), ...(service === undefined ? {} : { service }) };
  const sends: Send = send ?? ((url, init) => fetch(url, init));
  const fleetKey = await meetService(line, sends);
  const ssh = { host: sshHost, port: 22, host_keys: [] };
  const about = { name, mode: "direct", version: "0", ssh, highest_uid: 0 } as const;
  await joinService({ directory, line, fleetKey, ca: undefined, about, send: sends, clock: systemClock });
}
