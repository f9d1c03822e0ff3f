/** Users whose access an administrator lets end: the list of endings leaves them out in this browser, until the end is another or they log out. */

import { useState } from "preact/hooks";

const STORED = "as-planned";

interface Ending {
  readonly id: number;
  readonly expire_at: string;
}

/** Which endings are left out, and leaving out one more. */
export function useAsPlanned() {
  const [planned, setPlanned] = useState(read);
  return {
    isPlanned: ({ id, expire_at }: Ending) => planned[id] === expire_at,
    plan: ({ id, expire_at }: Ending) => {
      const now = { ...planned, [id]: expire_at };
      localStorage.setItem(STORED, JSON.stringify(now));
      setPlanned(now);
    },
  };
}

function read(): Readonly<Record<string, unknown>> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? "{}");
    return typeof stored === "object" && stored !== null ? { ...stored } : {};
  } catch {
    // Not written by this page: nothing is left out.
    return {};
  }
}
