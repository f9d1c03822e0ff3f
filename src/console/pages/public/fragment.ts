/** Secrets that a mailed link carries behind "#": no server sees them there, and the address bar must not keep them. */

import { useEffect, useState } from "preact/hooks";

/** The value that `read` makes of the fragment, which leaves the address and the history at once. Read again when a link is opened in this tab. */
export function useFragment<T>(read: (fragment: string) => T | undefined): T | undefined {
  const [found, setFound] = useState(() => take(read));
  useEffect(() => {
    const hear = () => {
      const other = take(read);
      if (other !== undefined) setFound(other);
    };
    addEventListener("hashchange", hear);
    return () => removeEventListener("hashchange", hear);
  }, []);
  return found;
}

function take<T>(read: (fragment: string) => T | undefined): T | undefined {
  const found = location.hash === "" ? undefined : read(location.hash);
  // Others stay: the link to the content is one.
  if (found !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return found;
}
