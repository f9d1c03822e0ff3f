/** The question ssh asks at the first connection, and the answer to give. */

import { Contact } from "../../../contact.tsx";
import { userTexts } from "../../../texts/user/user.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { Section } from "../../../ui/page.tsx";
import type { OwnAccount, Ssh } from "../own-account.ts";
import { askedKey, hostKeyOf, nameInQuestion } from "./command.ts";

export function FirstTime({ own, ssh }: { readonly own: OwnAccount; readonly ssh: Ssh }) {
  const { first } = userTexts.connect;
  const keys = ssh.host_keys.map(hostKeyOf);
  const asked = askedKey(keys);
  return (
    <Section title={first.title}>
      <p>{first.text}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls */}
      <section class="scroll" aria-label={first.sampleLabel} tabIndex={0}>
        <pre>{first.sample(nameInQuestion(ssh), asked?.fingerprint ?? "SHA256:…", asked?.type || "ED25519")}</pre>
      </section>
      {keys.length === 0 ? (
        <p>
          {first.unknown} <Contact contact={own.contact} />
        </p>
      ) : (
        <>
          <p>{first.compare}</p>
          {keys.map(({ fingerprint, type }) => (
            <div key={fingerprint} class="field">
              <strong>{type}</strong>
              <Copyable text={fingerprint} label={first.fingerprint(type)} />
            </div>
          ))}
          <p>{first.answer}</p>
          <p>
            {first.wrong} <Contact contact={own.contact} />
          </p>
        </>
      )}
      <p>{first.changed}</p>
    </Section>
  );
}
