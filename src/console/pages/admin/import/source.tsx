/** File button, drop zone and text area as one control: whichever way the lines come, they go the same way on. */

import { useRef, useState } from "preact/hooks";
import { MAX_IMPORT_BYTES } from "../../../../shared/product/limits.ts";
import { importTexts as texts } from "../../../texts/admin/import.ts";
import { Button } from "../../../ui/button.tsx";
import { Area } from "../../../ui/field.tsx";
import { Typed } from "../../../ui/typed.tsx";

/** A file as it was when it was chosen, or lines that were pasted. */
export type Source = ChosenFile | { readonly text: string };

interface ChosenFile {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const NOTHING: Source = { text: "" };

interface SourceInputProps {
  readonly source: Source;
  readonly error: string | undefined;
  readonly onSource: (source: Source) => void;
}

/** A file is not shown: ten thousand lines would be slow to look at, and its faults are. */
export function SourceInput({ source, error, onSource }: SourceInputProps) {
  const file = useRef<HTMLInputElement>(null);
  const choose = useRef<HTMLDivElement>(null);
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string>();

  function take(taken: Source) {
    setProblem(undefined);
    onSource(taken);
  }

  async function read(chosen: File | undefined) {
    if (chosen === undefined) return;
    try {
      if (chosen.size > MAX_IMPORT_BYTES) setProblem(texts.tooLarge(MAX_IMPORT_BYTES));
      else take({ name: chosen.name, bytes: new Uint8Array(await chosen.arrayBuffer()) });
    } catch {
      setProblem(texts.unreadable);
    } finally {
      // The same file can be chosen again, once it was corrected.
      if (file.current !== null) file.current.value = "";
    }
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping has the button in it as its other way
    <div
      class={`drop ${isOver ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const [dropped] = event.dataTransfer?.files ?? [];
        if (dropped === undefined) take({ text: event.dataTransfer?.getData("text") ?? "" });
        else void read(dropped);
      }}
    >
      <input
        ref={file}
        type="file"
        hidden
        aria-label={texts.choose}
        onChange={(event) => void read(event.currentTarget.files?.[0])}
      />
      <div ref={choose}>
        <Button onClick={() => file.current?.click()}>{texts.choose}</Button>
      </div>
      {"text" in source ? (
        <Area
          label={texts.text}
          hint={isOver ? texts.drop : texts.textHint}
          error={problem ?? error}
          value={source.text}
          onValue={(text) => take({ text })}
          rows={4}
          spellcheck={false}
          required
        />
      ) : (
        <Chosen
          file={source}
          problem={problem}
          onRemove={() => {
            take(NOTHING);
            // The button that was pressed goes.
            choose.current?.querySelector("button")?.focus();
          }}
        />
      )}
    </div>
  );
}

interface ChosenProps {
  readonly file: ChosenFile;
  /** Why another one could not be taken. */
  readonly problem: string | undefined;
  readonly onRemove: () => void;
}

function Chosen({ file: { name, bytes }, problem, onRemove }: ChosenProps) {
  return (
    <>
      <p role="status">
        <Typed text={texts.chosen(name, bytes.length)} />
      </p>
      {problem === undefined ? null : <p role="alert">{problem}</p>}
      <Button onClick={onRemove}>{texts.remove}</Button>
    </>
  );
}
