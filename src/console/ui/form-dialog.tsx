/** A dialog whose form has something done: the fields, what went wrong, the button that does it, and the way out. */

import type { ComponentChildren } from "preact";
import { useInstallation } from "../installation.ts";
import { common } from "../texts/common.ts";
import type { Action } from "./action.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Form } from "./form.tsx";
import { Failure } from "./notice.tsx";
import { useUnsaved } from "./unsaved.tsx";

interface FormDialogProps {
  readonly title: string;
  readonly work: Omit<Action<[]>, "clear">;
  readonly onClose: () => void;
  /** The button's label, and its label while the form is sent. */
  readonly texts: { readonly submit: string; readonly busy: string };
  readonly isDanger?: boolean;
  /** Whether it can be done at all; if not, there is only the way out. */
  readonly isPossible?: boolean;
  /** Whether everything is there that has to be seen before. */
  readonly isReady?: boolean;
  /** How a failure is said, where it is not as usual. */
  readonly failure?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The dialog; while the work is going on nothing closes it, and before what was typed is lost it asks. */
export function FormDialog({ title, work, onClose, texts, ...rest }: FormDialogProps) {
  const { isDanger = false, isPossible = true, isReady = true, failure, children } = rest;
  const unsaved = useUnsaved(onClose);
  const isDryRun = useInstallation()?.dry_run;
  const mayHold = work.failure !== undefined && work.mayHold;
  const close = () => {
    if (work.busy) return;
    if ((mayHold && unsaved.question === undefined) || !unsaved.holds()) onClose();
  };
  return (
    <Dialog title={title} onClose={close} onInput={unsaved.onInput}>
      {/* The page's own sentence is behind the dialog. */}
      {isDryRun ? <p class="dry-run">{common.dryRun}</p> : null}
      <Form onSubmit={() => (isPossible && isReady && unsaved.question === undefined ? void work.run() : undefined)}>
        {children}
        {failure ?? <Failure failure={work.failure} />}
        {unsaved.question ?? (
          <p class="actions">
            {isPossible ? (
              <Button
                type="submit"
                kind={isDanger ? "danger" : "primary"}
                busy={work.busy ? texts.busy : !isReady && texts.submit}
              >
                {texts.submit}
              </Button>
            ) : null}
            <Button onClick={close}>{mayHold ? common.close : common.cancel}</Button>
          </p>
        )}
      </Form>
    </Dialog>
  );
}
