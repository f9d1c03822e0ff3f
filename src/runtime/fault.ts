/** The answer where even the application's own handling of faults failed. */

import type { Reason } from "../shared/product/reasons.ts";

/** A 500 in the form that every failure has. */
export function faultResponse(): Response {
  const reason: Reason = "internal";
  return Response.json({ error: "An internal error occurred." }, { status: 500, headers: { "uam-error": reason } });
}
