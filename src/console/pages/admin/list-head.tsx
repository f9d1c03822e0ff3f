/** Above a list: how much of it there is, and how close its rows are. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { isCompact, setCompact } from "../../compact.ts";
import { common } from "../../texts/common.ts";

/** The content, with the switch that makes lists compact beside it. */
export function ListHead({ children }: { readonly children: ComponentChildren }) {
  const [isOn, setOn] = useState(isCompact);
  return (
    <div class="page-head">
      {children}
      <label class="check">
        <input
          type="checkbox"
          checked={isOn}
          onInput={({ currentTarget: { checked } }) => {
            setCompact(checked);
            setOn(checked);
          }}
        />
        {common.compact}
      </label>
    </div>
  );
}
