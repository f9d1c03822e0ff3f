/** The button of all pages. */

import type { ComponentChildren, JSX } from "preact";

interface ButtonProps extends Omit<JSX.HTMLAttributes<HTMLButtonElement>, "type" | "onClick"> {
  readonly children: ComponentChildren;
  readonly kind?: "primary" | "danger" | "plain";
  readonly type?: "button" | "submit";
  /** The label while it is at work; it cannot be pressed then, and keeps the focus. */
  readonly busy?: string | false | undefined;
  readonly onClick?: () => void;
}

/** A button that says what it does, and while it does it, that it does. */
export function Button({ children, kind = "plain", type = "button", busy = false, onClick, ...rest }: ButtonProps) {
  const isBusy = busy !== false;
  return (
    <button
      {...rest}
      type={type}
      class={kind}
      // `disabled` would throw the focus away.
      aria-disabled={isBusy ? "true" : undefined}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.();
      }}
    >
      {isBusy ? busy : children}
    </button>
  );
}
