/** "This was not me": shuts one's own account. The last page needs no session, because there is none any more. */

import { useState } from "preact/hooks";
import { PAGES } from "../../../shared/product/pages.ts";
import { ApiFailure, api } from "../../api.ts";
import { Contact } from "../../contact.tsx";
import { useSession } from "../../session.tsx";
import { signedIn } from "../../signed-in.tsx";
import { userTexts } from "../../texts/user/user.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { hostsSentence } from "../../ui/confirmed.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Sentences } from "../../ui/sentences.tsx";
import { Loaded } from "../../use-api.tsx";
import { type OwnAccount, useOwnAccount } from "./own-account.ts";
import { Standing } from "./standing.tsx";

/** The outcome, with the contact; kept here, because it has to outlive the session. */
interface Outcome {
  readonly contact: string;
  /** The work that the service could not do; undefined if all is done. */
  readonly problem: string | undefined;
  /** On which further hosts it is true; "" where there are none. */
  readonly hosts: string;
}

export function NotMe() {
  const [outcome, setOutcome] = useState<Outcome>();
  return outcome === undefined ? <Ask onShut={setOutcome} /> : <Shut {...outcome} />;
}

interface AskProps {
  readonly onShut: (outcome: Outcome) => void;
}

const Ask = signedIn("user", ({ onShut }: AskProps) => {
  const own = useOwnAccount();
  const { notMe } = userTexts;
  return (
    <Page title={notMe.title}>
      <Loaded query={own}>
        {(account) =>
          account.status === "disabled" ? <Already own={account} /> : <Explain own={account} onShut={onShut} />
        }
      </Loaded>
    </Page>
  );
});

function Already({ own }: { readonly own: OwnAccount }) {
  const { already } = userTexts.notMe;
  return (
    <Notice kind="info" title={already.title}>
      <p>{already.text}</p>
      <p>
        {userTexts.standing.ask} <Contact contact={own.contact} />
      </p>
    </Notice>
  );
}

function Explain({ own, onShut }: { readonly own: OwnAccount; readonly onShut: (outcome: Outcome) => void }) {
  const { reasons, effects, lead, open } = userTexts.notMe;
  const [isAsking, setAsking] = useState(false);
  return (
    <div class="stack">
      <Standing own={own} page="notMe" />
      <p class="lead">{lead}</p>
      <Section title={effects.title}>
        <Sentences items={effects.list(own.host_account)} />
        <div class="actions">
          <Button kind="danger" onClick={() => setAsking(true)} aria-haspopup="dialog">
            {open}
          </Button>
        </div>
      </Section>
      <Section title={reasons.title}>
        <Sentences items={reasons.list} />
        <p>
          <a href={PAGES.trail}>{reasons.activity}</a>
        </p>
        <p>
          {reasons.oneKey} <a href={PAGES.keys}>{reasons.keys}</a>
        </p>
      </Section>
      {isAsking ? <Confirm own={own} onShut={onShut} onClose={() => setAsking(false)} /> : null}
    </div>
  );
}

interface ConfirmProps {
  readonly own: OwnAccount;
  readonly onShut: (outcome: Outcome) => void;
  readonly onClose: () => void;
}

function Confirm({ own, onShut, onClose }: ConfirmProps) {
  const { notMe } = userTexts;
  const session = useSession();
  const work = useAction(async () => {
    let problem: string | undefined;
    let hosts = "";
    try {
      hosts = hostsSentence(await api("POST /me/lock"));
    } catch (error) {
      // It was begun: what is left the service does by itself, and the session has ended all the same.
      if (!(error instanceof ApiFailure && error.status === 500)) throw error;
      problem = error.message;
    }
    onShut({ contact: own.contact, problem, hosts });
    if (problem === undefined) session.end();
    else session.refresh();
  });
  return (
    <FormDialog title={notMe.confirmTitle} {...{ work, onClose }} texts={notMe} isDanger>
      <p>{notMe.confirm(own.host_account)}</p>
    </FormDialog>
  );
}

function Shut({ contact, problem, hosts }: Outcome) {
  const { done, partly } = userTexts.notMe;
  return (
    <Page title={problem === undefined ? done.title : partly.title}>
      {problem === undefined ? (
        <Notice kind="good">
          <p>{done.first}</p>
          {hosts === "" ? null : <p>{hosts}</p>}
        </Notice>
      ) : (
        <Notice kind="bad">
          <p>{problem.replace(/\.?$/, ".")}</p>
          <p>{partly.text}</p>
        </Notice>
      )}
      <Section title={done.nextTitle}>
        <Sentences items={done.next} />
        <p>
          <strong>{userTexts.standing.ask}</strong> <Contact contact={contact} />
        </p>
      </Section>
    </Page>
  );
}
