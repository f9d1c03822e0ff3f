/** One's own login as an administrator: who one is, the password, passkeys and the authenticator app. */

import { PAGES } from "../../../shared/product/pages.ts";
import { mayChange } from "../../roles.ts";
import { useSession } from "../../session.tsx";
import { signedIn } from "../../signed-in.tsx";
import { accountTexts as texts } from "../../texts/admin/account.ts";
import { adminsTexts } from "../../texts/admin/admins.ts";
import { factorsTexts } from "../../texts/admin/factors.ts";
import { roleTexts } from "../../texts/admin/roles.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { AuthenticatorApp } from "./account/app.tsx";
import { ChangePassword } from "./account/change-password.tsx";
import { Passkeys } from "./account/passkeys.tsx";
import { useRole } from "./for-role.tsx";

export const Account = signedIn("admin", () => {
  const { state } = useSession();
  const role = useRole();
  if (state.kind !== "open") return null;
  const { username, email, needs } = state.principal;
  return (
    <Page title={texts.title}>
      {needs === undefined ? null : (
        <Notice kind="warn" title={factorsTexts.needed.title[needs]}>
          <p>{factorsTexts.needed.text[needs]}</p>
        </Notice>
      )}
      <div class="columns">
        <Section title={texts.who}>
          <dl class="facts">
            <dt>{texts.name}</dt>
            <dd>
              <strong>{username}</strong>
            </dd>
            <dt>{texts.email}</dt>
            <dd>
              <bdi class="typed">{email}</bdi>
            </dd>
            <dt>{texts.role}</dt>
            <dd>
              {roleTexts.names[role]} <p class="hint">{adminsTexts.explained[role]}</p>
            </dd>
          </dl>
          <p class="hint">
            {mayChange(role, "admins") ? <a href={PAGES.admins}>{texts.changeOwn}</a> : texts.changeRole}
          </p>
        </Section>
        {needs === undefined ? <ChangePassword username={username} /> : null}
      </div>
      <Passkeys />
      <AuthenticatorApp />
    </Page>
  );
});
