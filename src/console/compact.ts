/** Whether lists are compact: more rows on a screen, with less room between them. Kept by the browser. */

/** Where it is kept, which logging out keeps, too; and the class of a page whose lists are compact. */
export const COMPACT = "compact";

/** Whether they are; at first they are not. */
export function isCompact(): boolean {
  return localStorage.getItem(COMPACT) !== null;
}

/** Makes the lists of this browser compact, or no longer. */
export function setCompact(isOn: boolean): void {
  if (isOn) localStorage.setItem(COMPACT, "on");
  else localStorage.removeItem(COMPACT);
  showDensity();
}

/** Shows lists as they were last wanted. */
export function showDensity(): void {
  document.documentElement.classList.toggle(COMPACT, isCompact());
}
