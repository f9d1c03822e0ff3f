/** A field for a password, which its owner may want to see. */

import type { ComponentProps } from "preact";
import { useState } from "preact/hooks";
import { common } from "../texts/common.ts";
import { useUniqueId } from "../unique-id.ts";
import { Input } from "./field.tsx";

/** A password's field, with a box that shows what was typed. */
export function Password(props: Omit<ComponentProps<typeof Input>, "type">) {
  const [isShown, setShown] = useState(false);
  const id = useUniqueId();
  return (
    <div class="password">
      <Input {...props} autocapitalize="none" type={isShown ? "text" : "password"} />
      <label class="check" for={id}>
        <input id={id} type="checkbox" checked={isShown} onInput={(event) => setShown(event.currentTarget.checked)} />
        {common.showPassword}
      </label>
    </div>
  );
}
