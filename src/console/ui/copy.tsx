/** Text to take elsewhere. */

import { useState } from "preact/hooks";
import { common } from "../texts/common.ts";
import { announce } from "./announce.tsx";
import { Button } from "./button.tsx";

/** A command or lines of a file, exactly as they are, with a button that copies them. `label` says what it is. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
      announce(common.copied);
    } catch {
      setState("failed");
    }
  }
  return (
    <div class="copyable">
      {/* Long lines scroll; what scrolls must be reachable with the keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls */}
      <section class="scroll" aria-label={label} tabIndex={0}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <Button onClick={() => void copy()} aria-label={`${common.copy}: ${label}`}>
        {state === "copied" ? common.copied : common.copy}
      </Button>
      {state === "failed" ? <p class="hint">{common.copyFailed}</p> : null}
    </div>
  );
}
