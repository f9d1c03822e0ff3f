/** What the console's pages without a session need to know. */

import * as v from "valibot";
import { described } from "./fields.ts";

export const ConsoleConfig = v.pipe(
  v.object({
    version: described("1.0.0"),
    captcha: v.pipe(
      v.picklist(["image", "proof", "both", "off"]),
      v.description("What asking for a one-time code needs: see `UAM_CAPTCHA`"),
    ),
    contact: described("help@example.org", "Whom to ask: an address or a sentence; empty where nobody is named"),
    sso: v.pipe(
      v.nullable(v.object({ name: described("Example Corp", "What people call it") })),
      v.description("Only where administrators may log in by single sign-on"),
    ),
    setup: v.pipe(
      v.nullable(v.object({ command: described("uam admin add root-admin --email you@example.org") })),
      v.description("Only while there is no administrator: the command that makes one, at the service's host"),
    ),
  }),
  v.title("ConsoleConfig"),
);
