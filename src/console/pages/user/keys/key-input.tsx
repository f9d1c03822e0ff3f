/** Text area, file button and drop zone as one control: whichever way the text of a key comes, it goes the same way on. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
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
  const file = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string>();

  useLayoutEffect(() => {
    if (isFocused) place.current?.querySelector("textarea")?.focus();
  }, []);

  function take(text: string) {
    setProblem(undefined);
    if (onText(text)) return;
    // The field's state did not change, so nothing but this would empty it.
    const area = place.current?.querySelector("textarea");
    if (area instanceof HTMLTextAreaElement) area.value = "";
  }

  async function read(chosen: File | undefined) {
    if (chosen === undefined) return;
    try {
      if (chosen.size > MAX_FILE) setProblem(add.tooLarge);
      else take(decodeKeyFile(new Uint8Array(await chosen.arrayBuffer())));
    } catch {
      setProblem(add.unreadable);
    } finally {
      // The same file can be chosen again, and nothing of it stays here.
      if (file.current !== null) file.current.value = "";
    }
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping has the button beside it as its other way
    <div
      ref={place}
      class={`drop ${isOver ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const { files } = event.dataTransfer ?? {};
        const dropped = files?.[0];
        if (dropped === undefined) take(event.dataTransfer?.getData("text") ?? "");
        else void read(dropped);
      }}
    >
      <Area
        label={add.text}
        hint={isOver ? add.drop : add.textHint}
        error={problem ?? error}
        value={value}
        onValue={take}
        name="public-key"
        rows={4}
        spellcheck={false}
        placeholder="ssh-ed25519 AAAA…"
        required
      />
      <input
        ref={file}
        type="file"
        hidden
        aria-label={add.choose}
        onChange={(event) => void read(event.currentTarget.files?.[0])}
      />
      <Button onClick={() => file.current?.click()}>{add.choose}</Button>
    </div>
  );
}
