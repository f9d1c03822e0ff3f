/** Why a change to a user's access is made, in the dialogs that make it. */

import { useState } from "preact/hooks";
import { MAX_REASON } from "../../../shared/text/person.ts";
import { reasonTexts } from "../../texts/admin/user.ts";
import { textFault, withoutBreaks } from "../../typed-text.ts";
import { Area } from "../../ui/field.tsx";

/** The `field`, and `read()`: the reason to send, "" for none; undefined where it can be none, which the field then says. */
export function useReason(isRequired = false) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  return {
    field: (
      <Area
        label={reasonTexts.label}
        hint={reasonTexts.hint}
        error={error}
        required={isRequired}
        value={text}
        onValue={(value) => {
          setText(withoutBreaks(value));
          setError(undefined);
        }}
        rows={2}
      />
    ),
    read: (): string | undefined => {
      const fault = textFault(text.trim(), MAX_REASON);
      setError(fault);
      return fault === undefined ? text.trim() : undefined;
    },
  };
}
