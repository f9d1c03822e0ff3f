/** Who could log in, as a file. */

import { csvBeginning, csvLine } from "../../shared/text/csv-cell.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Access } from "./history.ts";

const COLUMNS = ["username", "host", "until", "fingerprints", "decided_by", "profile"];

/** CSV with a byte order mark and a header row; the fingerprints have a space between them. */
export function accessCsv(items: readonly Access[]): string {
  const lines = items.map(({ username, host, until, fingerprints, decidedBy, profile }) =>
    csvLine([username, host, formatTimestamp(until), fingerprints.join(" "), decidedBy, profile]),
  );
  return [csvBeginning(COLUMNS), ...lines].join("");
}
