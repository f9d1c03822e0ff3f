/** Whether keys without Ctrl or Alt do anything (WCAG 2.1.4): people who dictate, or miss keys, switch them off. Kept by the browser. */

/** Where it is kept; logging out keeps it, too. */
export const SINGLE_KEYS = "keys";
const OFF = "off";

/** Whether they are on, as at first. */
export function hasSingleKeys(): boolean {
  return localStorage.getItem(SINGLE_KEYS) !== OFF;
}

/** Switches them on or off, for this browser. */
export function setSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(SINGLE_KEYS);
  else localStorage.setItem(SINGLE_KEYS, OFF);
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "isComposing">;

/** Whether the event is such a key, and they are switched off. */
export function isSwitchedOff({ key, ctrlKey, altKey, metaKey, isComposing }: Pressed): boolean {
  return key.length === 1 && !ctrlKey && !altKey && !metaKey && !isComposing && !hasSingleKeys();
}
