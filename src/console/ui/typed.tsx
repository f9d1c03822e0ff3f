/** Text that somebody typed, shown as text whatever it holds. */

import { useState } from "preact/hooks";
import { common } from "../texts/common.ts";
import { Button } from "./button.tsx";
import { cut } from "./isolated.ts";

const LONG = 300;

interface TypedProps {
  readonly text: string;
  /** With more characters, the rest is shown on demand. */
  readonly most?: number;
}

/** The text; it cannot reorder what stands around it. A long one is cut, with a button that shows the rest. */
export function Typed({ text, most = LONG }: TypedProps) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : cut(text, most);
  return (
    <>
      <bdi class="typed">{shown}</bdi>
      {shown === text ? null : <Button onClick={() => setWhole(true)}>{common.showMore}</Button>}
    </>
  );
}
