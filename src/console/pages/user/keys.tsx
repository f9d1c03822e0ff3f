/** One's keys: which there are, and how to add, rename and revoke them. */

import { useState } from "preact/hooks";
import { signedIn } from "../../signed-in.tsx";
import { userTexts } from "../../texts/user/user.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done } from "./done.tsx";
import { AddKey } from "./keys/add-key.tsx";
import { KeyList } from "./keys/key-list.tsx";
import { AccountNetworks, OwnKeyNetworks } from "./keys/key-networks.tsx";
import { MakeKey } from "./keys/make-key.tsx";
import { RenameKey } from "./keys/rename-key.tsx";
import { RevokeKey } from "./keys/revoke-key.tsx";
import { type OwnAccount, type OwnKey, useOwnAccount, useOwnKeys } from "./own-account.ts";
import { Standing } from "./standing.tsx";
import { AskForTerms, isAsked } from "./terms.tsx";

export const Keys = signedIn("user", () => {
  const own = useOwnAccount();
  const keys = useOwnKeys();
  const hosts = useApi("GET /me/hosts").data?.items ?? [];
  const asking = hosts.filter(({ ssh }) => ssh?.profile?.second_factor === "verified").map(({ name }) => name);
  const proving = hosts.filter(({ ssh }) => ssh?.profile?.attestation === "required").map(({ name }) => name);
  return (
    <Page title={userTexts.keys.title}>
      <Loaded query={own}>
        {(account) => (
          <div class="stack">
            <Standing own={account} page="keys" />
            <AskForTerms own={account} />
            <Loaded query={keys}>
              {({ items }) => <Content own={account} keys={items} {...{ asking, proving }} hosts={hosts.length} />}
            </Loaded>
          </div>
        )}
      </Loaded>
    </Page>
  );
});

interface ContentProps {
  readonly own: OwnAccount;
  readonly keys: readonly OwnKey[];
  /** The hosts where only security keys count. */
  readonly asking: readonly string[];
  /** Those of them where their make has to be proven. */
  readonly proving: readonly string[];
  /** How many hosts there are. */
  readonly hosts: number;
}

/** The open question about a key. */
type Question = { readonly about: OwnKey; readonly kind: "rename" | "networks" | "revoke" };

function Content({ own, keys, asking, proving, hosts }: ContentProps) {
  const [question, setQuestion] = useState<Question>();
  const [done, setDone] = useState("");
  const { keys: texts } = userTexts;

  function ask(kind: Question["kind"]) {
    return (about: OwnKey) => {
      setDone("");
      setQuestion({ about, kind });
    };
  }
  function finish(text: string) {
    setQuestion(undefined);
    setDone(text);
  }

  const close = () => setQuestion(undefined);
  const isProven = proving.length > 0;
  const named = (some: readonly string[]) => (some.length === hosts ? "" : some.join(", "));
  const isBarred = keys.length === 0 && isAsked(own);
  return (
    <div class="stack">
      {done === "" ? null : <Done>{done}</Done>}
      {asking.length === 0 ? null : (
        <Notice kind="info" title={texts.factor.title}>
          <p>{texts.factor.text(named(asking))}</p>
          {isProven ? <p>{texts.factor.proof(named(proving))}</p> : null}
        </Notice>
      )}
      {keys.length === 0 ? (
        <p class="lead">{texts.none}</p>
      ) : (
        <>
          <p>{own.status === "active" ? texts.lead : texts.idle}</p>
          <AccountNetworks networks={own.source_networks} />
          <KeyList keys={keys} onRename={ask("rename")} onNetworks={ask("networks")} onRevoke={ask("revoke")} />
        </>
      )}
      {own.status === "active" && !isBarred ? (
        <Section title={keys.length === 0 ? texts.add.firstTitle : texts.add.title}>
          <AddKey {...{ own, keys, isProven }} />
        </Section>
      ) : null}
      {own.status === "active" && !isProven ? (
        <MakeKey isOpen={keys.length === 0} isFactor={asking.length > 0} />
      ) : null}
      {question?.kind === "rename" ? <RenameKey target={question.about} onClose={close} onDone={finish} /> : null}
      {question?.kind === "networks" ? (
        <OwnKeyNetworks target={question.about} own={own} onClose={close} onDone={finish} />
      ) : null}
      {question?.kind === "revoke" ? (
        <RevokeKey target={question.about} isLast={keys.length === 1} onClose={close} onDone={finish} />
      ) : null}
    </div>
  );
}
