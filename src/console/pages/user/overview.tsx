/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Overview = signedIn("user", () => <Page title="Overview">…</Page>);
