/** File button, drop zone and text area as one control: whichever way the lines come, they go the same way on. */

import { useRef } from "preact/hooks";
import { MAX_IMPORT_BYTES } from "../../../../shared/product/limits.ts";
import { useFile } from "../../../files/use-file.tsx";
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
  const choose = useRef<HTMLDivElement>(null);
  const file = useFile({
    ...{ label: texts.choose, most: MAX_IMPORT_BYTES, tooLarge: texts.tooLarge(MAX_IMPORT_BYTES) },
    ...{ unreadable: texts.unreadable, onFile: onSource, onText: (text) => onSource({ text }) },
  });
  return (
    <div {...file.zone}>
      {file.input}
      <div ref={choose}>
        <Button onClick={file.choose}>{texts.choose}</Button>
      </div>
      {"text" in source ? (
        <Area
          label={texts.text}
          hint={file.isOver ? texts.drop : texts.textHint}
          error={file.problem ?? error}
          value={source.text}
          onValue={file.take}
          rows={4}
          spellcheck={false}
          required
        />
      ) : (
        <Chosen
          file={source}
          problem={file.problem}
          onRemove={() => {
            file.forget();
            onSource(NOTHING);
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
