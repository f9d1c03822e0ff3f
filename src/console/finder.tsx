/** The ways to everything from everywhere: a field that finds, and a list of the keys. Both are loaded once somebody wants them. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Entry } from "./finder/entries.ts";
import { mayChange } from "./roles.ts";
import { type Principal, useSession } from "./session.tsx";
import { hasSingleKeys } from "./single-keys.ts";
import { common } from "./texts/common.ts";
import { Button } from "./ui/button.tsx";
import { Failure } from "./ui/notice.tsx";

type Dialogs = typeof import("./finder/dialogs.ts");
type Open = "find" | "keys";

/** The buttons, the keys, and the dialog that is open. */
export function Finder({ principal }: { readonly principal: Principal }) {
  const { route } = useLocation();
  const { leave } = useSession();
  const [open, setOpen] = useState<Open>();
  const [dialogs, setDialogs] = useState<Dialogs>();
  const [failure, setFailure] = useState<unknown>();
  const [chosen, setChosen] = useState<Entry>();
  function show(what: Open) {
    setOpen(what);
    if (dialogs === undefined) import("./finder/dialogs.ts").then(setDialogs, setFailure);
  }
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const what = wantedBy(event);
      if (what === undefined) return;
      event.preventDefault();
      show(what);
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  });
  // Only once the dialog has closed and given back the focus, which a page or the next dialog then takes.
  useEffect(() => {
    if (chosen === undefined) return;
    setChosen(undefined);
    if (chosen.to === "keys") show("keys");
    else if (chosen.to === "leave") void leave().catch(setFailure);
    else route(chosen.to);
  }, [chosen]);
  const close = () => setOpen(undefined);
  return (
    <>
      <div class="finding">
        <Button aria-keyshortcuts="Control+K" onClick={() => show("find")}>
          {common.find}
        </Button>
        <Button aria-label={common.keys} onClick={() => show("keys")}>
          ?
        </Button>
      </div>
      <Failure failure={failure} />
      {dialogs === undefined || open === undefined ? null : open === "find" ? (
        <dialogs.Palette
          principal={principal}
          onClose={close}
          onChoose={(entry) => {
            close();
            setChosen(entry);
          }}
        />
      ) : (
        <dialogs.KeysDialog
          hasQueue={principal.user_type === "admin" && mayChange(principal.role ?? "auditor", "applications")}
          onClose={close}
        />
      )}
    </>
  );
}

/** What a key wants that is pressed anywhere. Ctrl+K works in fields, too; single keys only outside, and while they are switched on. */
function wantedBy(event: KeyboardEvent): Open | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  if (event.defaultPrevented || event.isComposing || event.repeat || altKey) return undefined;
  // What is under a dialog cannot be reached.
  if (document.querySelector("dialog[open]") !== null) return undefined;
  if (ctrlKey !== metaKey) return key.toLowerCase() === "k" && !shiftKey ? "find" : undefined;
  if (ctrlKey || !hasSingleKeys() || isTyping(target)) return undefined;
  return key === "/" ? "find" : key === "?" ? "keys" : undefined;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
