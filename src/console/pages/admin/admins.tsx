/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Admins = signedIn("admin", () => <Page title="Admins">…</Page>);
