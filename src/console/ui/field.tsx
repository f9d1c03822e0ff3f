/** A labelled field of a form: its hint and its error are tied to it for those who do not see them beside it. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { common } from "../texts/common.ts";
import { useUniqueId } from "../unique-id.ts";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The fault of the value; while there is one, the field is marked as invalid. */
  readonly error?: string | undefined;
}

type Control<E extends HTMLElement> = Omit<JSX.HTMLAttributes<E>, "label" | "id" | "onInput" | "value"> & {
  readonly value: string;
  readonly onValue: (value: string) => void;
};

type InputProps = FieldProps &
  Control<HTMLInputElement> &
  Pick<
    JSX.InputHTMLAttributes<HTMLInputElement>,
    "type" | "name" | "autocomplete" | "required" | "maxLength" | "min" | "max" | "pattern" | "placeholder" | "list"
  >;

/** One line of text. */
export function Input({ label, hint, error, value, onValue, ...rest }: InputProps) {
  const { id, describedBy, control } = useField<HTMLInputElement>(hint, error);
  // Of a search nobody thinks that it has to be filled in.
  const required = rest.required === true || rest.type === "search";
  return (
    <Labelled {...{ id, label, hint, error, required }}>
      <input
        spellcheck={false}
        {...rest}
        ref={control}
        id={id}
        value={value}
        aria-invalid={error === undefined ? undefined : "true"}
        aria-describedby={describedBy}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Labelled>
  );
}

type AreaProps = FieldProps &
  Control<HTMLTextAreaElement> &
  Pick<JSX.TextareaHTMLAttributes<HTMLTextAreaElement>, "name" | "required" | "maxLength" | "rows" | "placeholder">;

/** Several lines of text. */
export function Area({ label, hint, error, value, onValue, ...rest }: AreaProps) {
  const { id, describedBy, control } = useField<HTMLTextAreaElement>(hint, error);
  return (
    <Labelled {...{ id, label, hint, error, required: rest.required === true }}>
      <textarea
        {...rest}
        ref={control}
        id={id}
        value={value}
        aria-invalid={error === undefined ? undefined : "true"}
        aria-describedby={describedBy}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Labelled>
  );
}

interface SelectProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Values and what they are called. */
  readonly options: readonly (readonly [string, string])[];
  readonly name?: string;
}

/** One of a few values. */
export function Select({ label, hint, error, value, onValue, options, name }: SelectProps) {
  const { id, describedBy, control } = useField<HTMLSelectElement>(hint, error);
  return (
    <Labelled {...{ id, label, hint, error, required: true }}>
      <select
        ref={control}
        id={id}
        name={name}
        value={value}
        aria-describedby={describedBy}
        onInput={(event) => onValue(event.currentTarget.value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** The ids that tie a field together. When an error appears, the field gets the focus, unless one before it has one too. */
function useField<E extends HTMLElement>(hint: ComponentChildren, error: string | undefined) {
  const id = useUniqueId();
  const control = useRef<E>(null);
  useEffect(() => {
    const element = control.current;
    if (error === undefined || element === null) return;
    const first = element.closest("form")?.querySelector("[aria-invalid]") ?? element;
    if (first === element) element.focus();
  }, [error]);
  const parts = [hint === undefined ? [] : [`${id}-hint`], error === undefined ? [] : [`${id}-error`]].flat();
  return { id, control, describedBy: parts.length === 0 ? undefined : parts.join(" ") };
}

interface LabelledProps extends FieldProps {
  readonly id: string;
  readonly required: boolean;
  readonly children: ComponentChildren;
}

function Labelled({ id, label, hint, error, required, children }: LabelledProps) {
  return (
    <div class="field">
      <label for={id}>
        {label}
        {required ? null : <span class="quiet"> ({common.optional})</span>}
      </label>
      {children}
      {hint === undefined ? null : (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {error === undefined ? null : (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
