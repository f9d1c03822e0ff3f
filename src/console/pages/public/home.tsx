/** The first page: what this is, and where to go. */

import { useState } from "preact/hooks";
import { PAGES } from "../../../shared/product/pages.ts";
import { type Installation, readInstallation, useInstallation } from "../../installation.ts";
import { homeOf } from "../../navigation.ts";
import { useSession } from "../../session.tsx";
import { publicTexts } from "../../texts/public.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copy.tsx";
import { Failure, Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Beside } from "./beside.tsx";
import { loginUrl } from "./login/ways.ts";
import { Outcome } from "./outcome.tsx";

export function Home() {
  const { state } = useSession();
  const { home } = publicTexts;
  return (
    <Page title={home.title}>
      <Setup />
      <Beside title={home.how} items={home.steps} areSteps>
        {state.kind === "open" ? (
          <p class="actions">
            <a class="button primary" href={homeOf(state.principal.user_type)}>
              {home.goOn(state.principal.username)}
            </a>
          </p>
        ) : (
          <div class="choices">
            <a class="choice" href={PAGES.login}>
              <strong>{home.login}</strong>
              <span>{home.loginHint}</span>
            </a>
            <a class="choice" href={PAGES.apply}>
              <strong>{home.apply}</strong>
              <span>{home.applyHint}</span>
            </a>
          </div>
        )}
      </Beside>
    </Page>
  );
}

/** Until there is an administrator: how to make one. Never here in the browser, where anybody could. */
function Setup() {
  const [fresh, setFresh] = useState<Installation>();
  const known = useInstallation();
  const config = fresh ?? known;
  const [isMade, setMade] = useState(false);
  const [isStillNone, setStillNone] = useState(false);
  const looking = useAction(async () => {
    setStillNone(false);
    const now = await readInstallation();
    setMade(now.setup === null);
    setStillNone(now.setup !== null);
    setFresh(now);
  });
  const { setup } = publicTexts;
  if (isMade) {
    return (
      <Outcome>
        <Notice kind="good" title={setup.ready}>
          <a class="button primary" href={loginUrl({ as: "admin" }, {})}>
            {setup.logIn}
          </a>
        </Notice>
      </Outcome>
    );
  }
  if (config === undefined || config.setup === null) return null;
  return (
    <Notice kind="info" title={setup.title}>
      <p>{setup.text}</p>
      <Copyable text={config.setup.command} label={setup.label} />
      <p>{setup.after}</p>
      <Button busy={looking.busy && setup.checking} onClick={() => void looking.run()}>
        {setup.done}
      </Button>
      {isStillNone ? <p>{setup.stillNone}</p> : null}
      <Failure failure={looking.failure} />
    </Notice>
  );
}
