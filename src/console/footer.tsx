/** Below every page: whom to ask, which zone its times are in, and what runs here. */

import { Contact } from "./contact.tsx";
import type { Installation } from "./installation.ts";
import { useSession } from "./session.tsx";
import { common } from "./texts/common.ts";
import { zone } from "./ui/clock.ts";

/** Empty until the installation is known. */
export function Footer({ installation }: { readonly installation: Installation | undefined }) {
  const { state } = useSession();
  const { footer } = common;
  if (installation === undefined) return <footer class="foot" />;
  const { contact, version } = installation;
  return (
    <footer class="foot">
      {contact === "" ? null : (
        <p>
          {footer.help} <Contact contact={contact} />
        </p>
      )}
      {state.kind === "open" ? <p>{footer.zone(zone())}</p> : null}
      <p>{footer.version(version)}</p>
    </footer>
  );
}
