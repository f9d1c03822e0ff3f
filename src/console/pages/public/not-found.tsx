/** An address without a page, and which one may have been meant. */

import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { homeOf } from "../../navigation.ts";
import { useSession } from "../../session.tsx";
import { lostTexts as texts } from "../../texts/lost.ts";
import { Page } from "../../ui/page.tsx";
import { pagesMeant } from "./meant.ts";

export function NotFound() {
  const { url } = useLocation();
  const { state } = useSession();
  const kind = state.kind === "open" ? state.principal.user_type : undefined;
  const others = kind === undefined ? undefined : kind === "user" ? PAGES.dashboard : PAGES.me;
  // Pages for the other kind of session would only send the reader back.
  const meant = pagesMeant(url.replace(/[?#].*$/s, "")).filter(
    (path) => others === undefined || !`${path}/`.startsWith(`${others}/`),
  );
  const home = kind === undefined ? PAGES.home : homeOf(kind);
  return (
    <Page title={texts.title}>
      <p>{meant.length === 0 ? texts.text : texts.meant}</p>
      {meant.length === 0 ? null : (
        <ul>
          {meant.map((path) => (
            <li key={path}>
              <a href={path}>{texts.nameOf(path)}</a> <code>{path}</code>
            </li>
          ))}
        </ul>
      )}
      <p>
        <a href={home}>{kind === undefined ? texts.first : texts.own}</a>
      </p>
    </Page>
  );
}
