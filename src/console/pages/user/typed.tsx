/** Text that somebody typed, shown as text whatever it holds. */

import { useState } from "preact/hooks";
import { userTexts } from "../../texts/user.ts";
import { Button } from "../../ui/button.tsx";

/** Longer than this, the rest is shown on demand. */
const LONG = 400;

/** The text; it cannot reorder what stands around it. A long one is cut, with a button that shows the rest. */
export function Typed({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const letters = [...text];
  const isCut = letters.length > LONG && !isWhole;
  return (
    <>
      <bdi class="typed">{isCut ? `${letters.slice(0, LONG).join("")} …` : text}</bdi>
      {isCut ? <Button onClick={() => setWhole(true)}>{userTexts.more}</Button> : null}
    </>
  );
}

const NAMED = 100;

/** The same within a sentence that is a text: between the marks that isolate it (UAX #9), and cut if it is long. */
export function isolated(text: string): string {
  const letters = [...text];
  const shown = letters.length > NAMED ? `${letters.slice(0, NAMED).join("")} …` : text;
  return shown === "" ? "" : `\u2068${shown.replace(/[\u2066-\u2069\u202A-\u202E]/g, "")}\u2069`;
}
