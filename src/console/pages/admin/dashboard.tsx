/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Dashboard = signedIn("admin", () => <Page title="Dashboard">…</Page>);
