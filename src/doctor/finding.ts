/** What the doctor finds. */

/** `skipped`: it could not be looked at here, which is neither good nor bad. */
export type State = "ok" | "fault" | "fixed" | "skipped";

export interface Finding {
  /** What was looked at, e.g. "sshd". */
  readonly area: string;
  readonly state: State;
  /** A sentence: what is so. */
  readonly finding: string;
  /** For a fault: what to do. */
  readonly remedy?: string;
}

/** Findings of one area, so that checks say only what they found. */
export interface Area {
  ok(finding: string): Finding;
  fault(finding: string, remedy: string): Finding;
  fixed(finding: string): Finding;
  skipped(finding: string): Finding;
}

export function areaOf(area: string): Area {
  return {
    ok: (finding) => ({ area, state: "ok", finding }),
    fault: (finding, remedy) => ({ area, state: "fault", finding, remedy }),
    fixed: (finding) => ({ area, state: "fixed", finding }),
    skipped: (finding) => ({ area, state: "skipped", finding }),
  };
}
