/** On each page of a user whose account is not active: that it is not, and what can still be done here. */

import { Contact } from "../../contact.tsx";
import { userTexts } from "../../texts/user/user.ts";
import { Notice } from "../../ui/notice.tsx";
import type { OwnAccount } from "./own-account.ts";
import { isAsked, TermsWait } from "./terms.tsx";

type PageWithStanding = Exclude<keyof typeof userTexts.standing, "disabled" | "expired" | "ask">;

/** For an active account nothing but that terms wait, where the page does not ask for them itself and is not for emergencies. */
export function Standing({ own, page }: { readonly own: OwnAccount; readonly page: PageWithStanding }) {
  const { standing } = userTexts;
  if (own.status === "active") return isAsked(own) && page !== "keys" && page !== "notMe" ? <TermsWait /> : null;
  return (
    <Notice kind="warn" title={standing[own.status]}>
      <p>{standing[page][own.status]}</p>
      <p>
        {standing.ask} <Contact contact={own.contact} />
      </p>
    </Notice>
  );
}
