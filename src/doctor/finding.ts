/** A finding of the doctor. */

import { publicMessage, UamError } from "../shared/errors.ts";

/** `skipped`: it could not be checked here, which is neither good nor bad. `note`: it works, but there is something better. */
export type State = "ok" | "fault" | "fixed" | "skipped" | "note";

export interface Finding {
  /** The subject of the check, e.g. "sshd". */
  readonly area: string;
  readonly state: State;
  /** A sentence that says what was found. */
  readonly finding: string;
  /** For a fault or a note: what to do. */
  readonly remedy?: string;
}

/** Findings of one area, so that checks say only what they found. */
export interface Area {
  ok(finding: string): Finding;
  fault(finding: string, remedy: string): Finding;
  note(finding: string, remedy: string): Finding;
  fixed(finding: string): Finding;
  skipped(finding: string): Finding;
}

export function areaOf(area: string): Area {
  return {
    ok: (finding) => ({ area, state: "ok", finding }),
    fault: (finding, remedy) => ({ area, state: "fault", finding, remedy }),
    note: (finding, remedy) => ({ area, state: "note", finding, remedy }),
    fixed: (finding) => ({ area, state: "fixed", finding }),
    skipped: (finding) => ({ area, state: "skipped", finding }),
  };
}

/** A check that throws is a finding, too: whoever runs the doctor already has a problem. */
export async function guarded(name: string, check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (error) {
    const why = error instanceof UamError || !(error instanceof Error) ? publicMessage(error) : error.message;
    return [areaOf(name).fault(why, "see the message; the checks that depend on this were left out")];
  }
}
