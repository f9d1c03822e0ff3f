/** A dialog whose form has something done: the fields, what went wrong, the button that does it, and the way out. */

import type { ComponentChildren } from "preact";
import { common } from "../texts/common.ts";
import type { Action } from "./action.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Form } from "./form.tsx";
import { Failure } from "./notice.tsx";

interface FormDialogProps {
  readonly title: string;
  readonly work: Action<[]>;
  readonly onClose: () => void;
  /** What the button says, and while it is at it. */
  readonly texts: { readonly submit: string; readonly busy: string };
  readonly isDanger?: boolean;
  /** How a failure is said, where it is not as usual. */
  readonly failure?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The dialog; while the work is going on nothing closes it. */
export function FormDialog({ title, work, onClose, texts, isDanger = false, failure, children }: FormDialogProps) {
  const close = () => (work.busy ? undefined : onClose());
  return (
    <Dialog title={title} onClose={close}>
      <Form onSubmit={() => void work.run()}>
        {children}
        {failure ?? <Failure failure={work.failure} />}
        <p class="actions">
          <Button type="submit" kind={isDanger ? "danger" : "primary"} busy={work.busy && texts.busy}>
            {texts.submit}
          </Button>
          <Button onClick={close}>{common.cancel}</Button>
        </p>
      </Form>
    </Dialog>
  );
}
