/** A form that the page itself sends: never the browser, which the page's policy would stop. */

import type { ComponentChildren } from "preact";

interface FormProps {
  readonly onSubmit: () => void;
  /** How it is laid out; by default its fields below each other. */
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A form. What is wrong is said beside the fields, in our own words, and not by the browser's bubbles. */
export function Form({ onSubmit, class: layout = "form", children }: FormProps) {
  return (
    <form
      class={layout}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
