/** The name that somebody logs in with. */

import { publicTexts } from "../../texts/public.ts";
import { Input } from "../../ui/field.tsx";

interface NameFieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly error: string | undefined;
  readonly hint?: string;
}

/** The field; browsers fill it in, and phones do not capitalise it. */
export function NameField(props: NameFieldProps) {
  return (
    <Input
      {...props}
      label={publicTexts.login.name}
      name="username"
      autocomplete="username"
      autocapitalize="none"
      required
    />
  );
}
