/** Networks, as they are shown, and the dialog that changes them. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiFailure } from "../api.ts";
import { forgetAnswers } from "../signed-in.tsx";
import { networkTexts as texts } from "../texts/networks.ts";
import { useAction } from "./action.ts";
import { Area } from "./field.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { Failure, sentenceOf } from "./notice.tsx";

interface NetworkListProps {
  readonly networks: readonly string[];
  /** The meaning of an empty list. */
  readonly none: string;
}

/** The networks, each kept together on its line. */
export function NetworkList({ networks, none }: NetworkListProps) {
  if (networks.length === 0) return <span>{none}</span>;
  return (
    <ul class="networks">
      {networks.map((network) => (
        <li key={network}>
          <code>{network}</code>
        </li>
      ))}
    </ul>
  );
}

/** A key's own networks, if it has any. */
export function KeyNetworks({ networks }: { readonly networks: readonly string[] }) {
  if (networks.length === 0) return null;
  return (
    <div class="quiet">
      {texts.only} <NetworkList networks={networks} none="" />
    </div>
  );
}

/** The typed text as networks: separated by lines, blanks or commas. */
export function networksIn(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((entry) => entry !== "");
}

interface NetworksDialogProps {
  readonly title: string;
  readonly hint: ComponentChildren;
  /** As stored. */
  readonly networks: readonly string[];
  /** The effect of an empty list. */
  readonly lifted: string;
  /** Further facts the reader needs first. */
  readonly note: string;
  /** Has the service store them. */
  readonly save: (networks: string[]) => Promise<object>;
  readonly onClose: () => void;
  /** Called with the service's answer. */
  readonly onDone: (answer: object) => void;
}

/** Changes a list of networks; the service says what is wrong with one. */
export function NetworksDialog({ title, hint, networks, lifted, note, save, onClose, onDone }: NetworksDialogProps) {
  const [text, setText] = useState(networks.join("\n"));
  const [before] = useState(networks);
  const wanted = networksIn(text);
  const isSame = wanted.join() === before.join();
  const saving = useAction(async () => {
    if (isSame) return onClose();
    // They may be stored even if the host could not do all of it.
    onDone(await save([...wanted]).finally(() => void forgetAnswers()));
  });
  const { failure } = saving;
  // A fault of the typed text belongs to the field.
  const fault =
    failure instanceof ApiFailure && failure.reason.startsWith("network.") ? sentenceOf(failure) : undefined;
  return (
    <FormDialog
      {...{ title, onClose, texts }}
      work={{ ...saving, mayHold: true }}
      failure={<Failure failure={fault === undefined ? failure : undefined} />}
    >
      <Area
        label={texts.field}
        hint={hint}
        error={fault}
        value={text}
        onValue={(value) => {
          setText(value);
          saving.clear();
        }}
        rows={4}
        spellcheck={false}
        autoCapitalize="none"
      />
      <section class="will" aria-label={texts.effects}>
        <h3>{texts.effects}</h3>
        <ul>
          {isSame ? <li>{texts.stays}</li> : <li>{wanted.length === 0 ? lifted : texts.elsewhere}</li>}
          {isSame || wanted.length === 0 ? null : <li>{note}</li>}
        </ul>
      </section>
    </FormDialog>
  );
}
