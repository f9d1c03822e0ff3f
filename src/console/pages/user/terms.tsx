/** The terms of use: asked for while they wait, and read again later. */

import { useState } from "preact/hooks";
import { PAGES } from "../../../shared/product/pages.ts";
import { ApiFailure, api } from "../../api.ts";
import { forgetAnswers } from "../../signed-in.tsx";
import { termsTexts } from "../../texts/user/terms.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { moment } from "../../ui/clock.ts";
import { Failure, Notice } from "../../ui/notice.tsx";
import { Section } from "../../ui/page.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done } from "./done.tsx";
import type { OwnAccount } from "./own-account.ts";

/** Whether the user has to accept terms, and can. */
export function isAsked({ status, terms }: OwnAccount): boolean {
  return status === "active" && terms?.pending === true;
}

/** Asks for them, and says that they were accepted; else nothing. */
export function AskForTerms({ own }: { readonly own: OwnAccount }) {
  const [isDone, setDone] = useState(false);
  const terms = useApi("GET /me/terms", {}, false);
  const work = useAction(async (version: string) => {
    try {
      await api("POST /me/terms", { body: { version } });
    } catch (error) {
      // What is shown is not in force any more.
      if (error instanceof ApiFailure && error.reason === "terms.changed") void terms.refetch();
      throw error;
    }
    setDone(true);
    await forgetAnswers();
  });
  if (!isAsked(own)) return isDone ? <Done>{termsTexts.done}</Done> : null;
  return (
    <Section title={termsTexts.title}>
      <p>{termsTexts.lead}</p>
      <Loaded query={terms}>
        {({ text, version }) => (
          <>
            <Text text={text} />
            <Failure failure={work.failure} />
            <div class="actions">
              <Button kind="primary" busy={work.busy && termsTexts.busy} onClick={() => void work.run(version)}>
                {termsTexts.accept}
              </Button>
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}

/** On pages that do not ask themselves: that they wait, and where. */
export function TermsWait() {
  return (
    <Notice kind="warn" title={termsTexts.wait}>
      <a href={PAGES.me}>{termsTexts.read}</a>
    </Notice>
  );
}

/** Those that the user accepted, folded; where they are asked for, nothing. */
export function TermsAgain({ own }: { readonly own: OwnAccount }) {
  const [isOpen, setOpen] = useState(false);
  if (own.terms === undefined || isAsked(own)) return null;
  const at = own.terms.accepted_at;
  return (
    <details class="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{termsTexts.title}</summary>
      {at === null ? null : <p class="quiet">{termsTexts.accepted(moment(at))}</p>}
      {isOpen ? <Again /> : null}
    </details>
  );
}

function Again() {
  return <Loaded query={useApi("GET /me/terms")}>{({ text }) => <Text text={text} />}</Loaded>;
}

function Text({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with the keyboard
    <section class="terms" aria-label={termsTexts.text} tabIndex={0} dir="auto">
      {text}
    </section>
  );
}
