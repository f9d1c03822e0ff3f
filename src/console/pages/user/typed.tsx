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
