/** STUB */

import { signedIn } from "../../signed-in.tsx";
import { Page } from "../../ui/page.tsx";

export const Users = signedIn("admin", () => <Page title="Users">…</Page>);
