/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Keys = signedIn("user", () => <Page title="Keys">…</Page>);
