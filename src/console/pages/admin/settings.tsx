/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Settings = signedIn("admin", () => <Page title="Settings">…</Page>);
