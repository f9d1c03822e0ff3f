/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Account = signedIn("admin", () => <Page title="Account">…</Page>);
