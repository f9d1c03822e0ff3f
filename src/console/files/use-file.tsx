/** One control for whatever is chosen, dropped or pasted: a file by its button, a file or text that is dropped on it. */

import { useRef, useState } from "preact/hooks";

interface Wanted {
  /** What the file is, for whoever cannot see its button. */
  readonly label: string;
  /** Of a file, in bytes. */
  readonly most: number;
  readonly tooLarge: string;
  readonly unreadable: string;
  /** Throws if the file cannot be read. */
  readonly onFile: (file: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }) => void;
  readonly onText: (text: string) => void;
}

/** `zone`: properties of the element on which things are dropped; `input`: to be put into it; `choose()`: the button's work. */
export function useFile({ label, most, tooLarge, unreadable, onFile, onText }: Wanted) {
  const file = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  /** Why the last file could not be taken. */
  const [problem, setProblem] = useState<string>();

  async function read(chosen: File | undefined) {
    if (chosen === undefined) return;
    try {
      if (chosen.size > most) return setProblem(tooLarge);
      const bytes = new Uint8Array(await chosen.arrayBuffer());
      setProblem(undefined);
      onFile({ name: chosen.name, bytes });
    } catch {
      setProblem(unreadable);
    } finally {
      // The same file can be chosen again, once it was corrected; and nothing of it stays here.
      if (file.current !== null) file.current.value = "";
    }
  }

  function take(text: string) {
    setProblem(undefined);
    onText(text);
  }

  return {
    isOver,
    problem,
    take,
    /** Nothing was wrong with what is taken instead. */
    forget: () => setProblem(undefined),
    choose: () => file.current?.click(),
    zone: {
      class: `drop ${isOver ? "over" : ""}`,
      onDragOver: (event: DragEvent) => {
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        const dropped = event.dataTransfer?.files?.[0];
        if (dropped === undefined) take(event.dataTransfer?.getData("text") ?? "");
        else void read(dropped);
      },
    },
    input: (
      <input
        ref={file}
        type="file"
        hidden
        aria-label={label}
        onChange={(event) => void read(event.currentTarget.files?.[0])}
      />
    ),
  };
}
