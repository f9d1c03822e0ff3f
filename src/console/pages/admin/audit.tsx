/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Audit = signedIn("admin", () => <Page title="Audit">…</Page>);
