/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Applications = signedIn("admin", () => <Page title="Applications">…</Page>);
