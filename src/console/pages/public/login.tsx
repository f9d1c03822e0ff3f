/** STUB */

import { Page } from "../../ui/page.tsx";

export function Login() {
  return <Page title="Log in">…</Page>;
}
