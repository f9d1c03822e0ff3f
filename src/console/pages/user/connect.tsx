/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Connect = signedIn("user", () => <Page title="Connect">…</Page>);
