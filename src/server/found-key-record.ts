/** A key that was found when an account was adopted, as the API and the command line show it. */

import type { FoundUserKey } from "../domain/adoption/found.ts";

export function foundKeyRecord({ fingerprint, type, options, comment, path, status, refusal = "" }: FoundUserKey) {
  return { fingerprint, type, options, comment, found_in: path, status, refusal };
}
