/** Single sign-on: the way to the provider, the way back, and what the service says where it did not work. */

import { useEffect, useState } from "preact/hooks";
import type { SsoOutcome } from "../../../../shared/product/sso-outcomes.ts";
import { api, searchOf } from "../../../api.ts";
import { useInstallation } from "../../../installation.ts";
import { CHOSEN_LOGIN, type Principal } from "../../../session.tsx";
import { publicTexts } from "../../../texts/public.ts";
import { Button } from "../../../ui/button.tsx";
import { Notice } from "../../../ui/notice.tsx";

type Query = Readonly<Record<string, string | undefined>>;

/** Where a login at the provider begins; the service sends the browser on. */
const BEGIN = "/api/v1/auth/oidc/login";

/** The button, where single sign-on is set up. */
export function SsoLogin({ query: { next } }: { readonly query: Query }) {
  const name = useInstallation()?.sso?.name;
  const [isLeaving, setLeaving] = useState(false);
  if (name === undefined) return null;
  const { sso, login } = publicTexts;
  return (
    <>
      <p class="actions">
        <Button
          kind="primary"
          busy={isLeaving && login.submitting}
          onClick={() => {
            setLeaving(true);
            localStorage.setItem(CHOSEN_LOGIN, "admin");
            location.assign(BEGIN + searchOf({ next }));
          }}
        >
          {sso.submit(name)}
        </Button>
      </p>
      <p class="quiet">{sso.or}</p>
    </>
  );
}

/** Why the login did not work, by the word in the address; nothing for any other word. */
export function SsoRefusal({ query: { sso } }: { readonly query: Query }) {
  const { failed, outcomes } = publicTexts.sso;
  if (sso === undefined || !isRefusal(sso)) return null;
  return (
    <Notice kind="bad" title={failed}>
      <p>{outcomes[sso]}</p>
    </Notice>
  );
}

function isRefusal(word: string): word is Exclude<SsoOutcome, "done"> {
  return Object.hasOwn(publicTexts.sso.outcomes, word);
}

/** Takes over the session of a browser that comes back from the provider; true while it is asked for. */
export function useSsoReturn({ sso }: Query, onEntered: (principal: Principal) => void): boolean {
  const [isAsking, setAsking] = useState(sso === "done");
  useEffect(() => {
    if (sso !== "done") return;
    // A visitor sent here without a session logs in as usual.
    api("GET /auth/me").then(onEntered, () => setAsking(false));
  }, []);
  return isAsking;
}
