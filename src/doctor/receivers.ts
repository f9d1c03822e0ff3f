/** Those who are sent audit records: webhooks, and the stream. */

import { type ReceiverState, readReceivers } from "../domain/events/receivers.ts";
import type { Services } from "../domain/operation/context.ts";
import { counted } from "../shared/text/counted.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { areaOf, type Finding } from "./finding.ts";

/** A fault for each receiver that takes nothing, and a note for each webhook that is switched off after it did so. */
export async function checkReceivers({ db, policy }: Pick<Services, "db" | "policy">): Promise<readonly Finding[]> {
  const area = areaOf("events");
  const receivers = await readReceivers({ db, policy });
  const on = receivers.filter(({ isOn }) => isOn);
  if (receivers.length === 0) return [area.ok("No webhook and no stream of audit records is set up")];
  const findings = receivers.flatMap((receiver): readonly Finding[] => {
    const { failingSince, lastError, lag, isOn, id } = receiver;
    if (failingSince === null) return [];
    const name = nameOf(receiver);
    if (!isOn) {
      const finding = `${name} is switched off; it took nothing from ${formatTimestamp(failingSince)} on: ${lastError}`;
      return [
        area.note(
          finding,
          `uam webhook ping ${id}, then uam webhook update ${id} --status active, or uam webhook delete ${id}`,
        ),
      ];
    }
    const finding = `${name} has taken nothing since ${formatTimestamp(failingSince)} (${lastError}); ${counted(lag, "record")} wait`;
    return [
      area.fault(
        finding,
        "correct the receiver or its address; nothing is lost, and the service tries again by itself",
      ),
    ];
  });
  return findings.length > 0
    ? findings
    : [area.ok(`${counted(on.length, "receiver")} of audit records, and all is well`)];
}

function nameOf({ kind, id, name }: ReceiverState): string {
  return kind === "webhook" ? `The webhook ${id} (${name})` : `The stream ${name}`;
}
