/** Text area, file button and drop zone as one control: whichever way the text of a key comes, it goes the same way on. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { useFile } from "../../../files/use-file.tsx";
import { decodeKeyFile, MAX_FILE } from "../../../keys/key-file.ts";
import { userTexts } from "../../../texts/user/user.ts";
import { Button } from "../../../ui/button.tsx";
import { Area } from "../../../ui/field.tsx";

interface KeyInputProps {
  readonly value: string;
  readonly error: string | undefined;
  /** Takes a text over; false if it must not stay on the page. */
  readonly onText: (text: string) => boolean;
  /** Whether it takes the focus when it appears. */
  readonly isFocused: boolean;
}

export function KeyInput({ value, error, onText, isFocused }: KeyInputProps) {
  const { add } = userTexts.keys;
  const place = useRef<HTMLDivElement>(null);
  const file = useFile({
    ...{ label: add.choose, most: MAX_FILE, tooLarge: add.tooLarge, unreadable: add.unreadable },
    ...{ onFile: ({ bytes }) => take(decodeKeyFile(bytes)), onText: take },
  });

  useLayoutEffect(() => {
    if (isFocused) place.current?.querySelector("textarea")?.focus();
  }, []);

  function take(text: string) {
    if (onText(text)) return;
    // The field's state did not change, so nothing but this would empty it.
    const area = place.current?.querySelector("textarea");
    if (area instanceof HTMLTextAreaElement) area.value = "";
  }

  return (
    <div ref={place} {...file.zone}>
      <Area
        label={add.text}
        hint={file.isOver ? add.drop : add.textHint}
        error={file.problem ?? error}
        value={value}
        onValue={file.take}
        name="public-key"
        rows={4}
        spellcheck={false}
        placeholder="ssh-ed25519 AAAA…"
        required
      />
      {file.input}
      <Button onClick={file.choose}>{add.choose}</Button>
    </div>
  );
}
