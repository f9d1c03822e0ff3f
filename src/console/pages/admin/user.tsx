/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const User = signedIn("admin", () => <Page title="User">…</Page>);
