/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const NotMe = signedIn("user", () => <Page title="NotMe">…</Page>);
