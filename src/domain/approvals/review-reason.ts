/** The reason that somebody gives with a decision on a request. */

import { UamError } from "../../shared/errors.ts";
import { WITHDRAWN } from "../../shared/product/statuses.ts";

/** Throws `invalid` for the word that is stored with requests that were taken back, which a decision does not. */
export function requireNotWithdrawn(reason: string): void {
  if (reason !== WITHDRAWN) return;
  throw new UamError(
    "invalid",
    `The reason "${WITHDRAWN}" is kept for requests that were taken back: give another one`,
  );
}
