/** A line to each terminal of an account whose access ends soon, and its sessions with it. */

import type { EndingAccess } from "../../protocol/host.ts";
import type { HostContext } from "../host-context.ts";
import { processesOf, readProcesses } from "./processes.ts";
import { terminalOf, writeToTerminal } from "./terminals.ts";

/** The sessions that were told, and of which end. */
let told: ReadonlySet<string> = new Set();

/** See `Host.tellEnding`. */
export async function tellEnding({ settings }: HostContext, ending: readonly EndingAccess[]): Promise<void> {
  if (settings.mode !== "direct") return;
  const listed = ending.length === 0 ? [] : readProcesses();
  const heard = new Set<string>();
  for (const { uid, at, text } of ending) {
    const begun = new Map<number, number>();
    for (const { pid, started } of processesOf(listed, uid)) {
      const terminal = terminalOf(pid);
      if (terminal !== undefined) begun.set(terminal, Math.min(started, begun.get(terminal) ?? started));
    }
    for (const [terminal, started] of begun) {
      const session = [uid, terminal, started, at.getTime()].join(" ");
      if (!told.has(session)) writeToTerminal(terminal, uid, text);
      heard.add(session);
    }
  }
  told = heard;
}
