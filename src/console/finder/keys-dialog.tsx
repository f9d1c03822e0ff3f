/** The keys that there are, and the switch for those that are a single character. */

import { useState } from "preact/hooks";
import { hasSingleKeys, setSingleKeys } from "../single-keys.ts";
import { common } from "../texts/common.ts";
import { finderTexts } from "../texts/finder.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useUniqueId } from "../unique-id.ts";

const { keys: texts } = finderTexts;

interface KeysDialogProps {
  /** Whether the reader decides applications, which has keys of its own. */
  readonly hasQueue: boolean;
  readonly onClose: () => void;
}

export function KeysDialog({ hasQueue, onClose }: KeysDialogProps) {
  const [isOn, setOn] = useState(hasSingleKeys);
  const id = useUniqueId();
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <div class="stack tight">
        {/* First: it gets the focus, and what stands before it would be out of sight on a small screen. */}
        <label class="check">
          <input
            type="checkbox"
            checked={isOn}
            aria-describedby={id}
            onInput={({ currentTarget: { checked } }) => {
              setSingleKeys(checked);
              setOn(checked);
            }}
          />
          {texts.single}
        </label>
        <p id={id} class="hint">
          {texts.singleHint}
        </p>
        <Keys name="everywhere" />
        {hasQueue ? <Keys name="queue" /> : null}
        <p class="actions">
          <Button onClick={onClose}>{common.close}</Button>
        </p>
      </div>
    </Dialog>
  );
}

function Keys({ name }: { readonly name: keyof typeof texts.list }) {
  return (
    <>
      <h3>{texts[name]}</h3>
      <dl class="facts">
        {texts.list[name].map(([keys, meaning]) => (
          <div key={meaning} class="fact">
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
