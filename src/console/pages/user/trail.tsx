/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Trail = signedIn("user", () => <Page title="Trail">…</Page>);
