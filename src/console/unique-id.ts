/** Ids that tie elements together. */

import { useState } from "preact/hooks";

let made = 0;

/** An id that no other element of the page has. Preact's own may start again where a part is shown later, and name another field. */
export function useUniqueId(): string {
  const [id] = useState(() => `id-${++made}`);
  return id;
}
