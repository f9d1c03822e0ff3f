/** STUB */

import { Page } from "../../ui/page.tsx";

export function Apply() {
  return <Page title="Apply">…</Page>;
}
