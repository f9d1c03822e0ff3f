/** What an address wants done on its page besides showing it, behind the #: such as opening a dialog. */

import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";

/** Does it once if the address ends with `#` and the name, which then goes from the address. */
export function useWanted(name: string, work: () => void): void {
  const { url, route } = useLocation();
  useEffect(() => {
    if (location.hash !== `#${name}`) return;
    route(location.pathname + location.search, true);
    work();
  }, [url]);
}
