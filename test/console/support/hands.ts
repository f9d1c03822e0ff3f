/** Two ways to work a page, with the same steps: a mouse, and a keyboard alone. */

import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { HANG } from "../../support/hang.ts";
import { focusedName, soon } from "./browser.ts";

type Role = "button" | "link" | "radio" | "checkbox" | "textbox" | "searchbox" | "combobox" | "spinbutton";
type Name = string | RegExp;

/** Somebody who works a page. Controls are found as a screen reader names them. */
export interface Hands {
  readonly page: Page;
  /** Presses the first control of that role and name. */
  press(role: Role, name: Name): Promise<void>;
  /** Replaces what stands in a field. */
  type(label: Name, text: string): Promise<void>;
  /** Chooses an option of a list, by what it says. */
  choose(label: Name, option: string): Promise<void>;
  /** Opens or shuts what a heading hides. */
  unfold(summary: Name): Promise<void>;
  /** Presses the button that opens the browser's dialog for files, and chooses one there. */
  chooseFile(button: Name, path: string): Promise<void>;
}

/** Clicks. */
export function mouse(page: Page): Hands {
  return {
    page,
    press: async (role, name) => await control(page, role, name).click(),
    type: async (label, text) => await field(page, label).fill(text),
    choose: async (label, option) => void (await field(page, label).selectOption({ label: option })),
    unfold: async (summary) => await heading(page, summary).click(),
    chooseFile: async (button, path) =>
      await withFile(page, path, async () => await control(page, "button", button).click()),
  };
}

/** Never touches a mouse; every step is also a test that the focus is seen and not lost. */
export function keyboard(page: Page): Hands {
  return {
    page,
    press: async (role, name) => {
      const target = control(page, role, name);
      await reach(page, target, role === "radio");
      // As a mouse waits: a button takes no press until what it will do is shown.
      await soon(async () => expect(await target.isEnabled()).toBe(true));
      await page.keyboard.press(role === "button" || role === "link" ? "Enter" : "Space");
      await expectFocus(page, `after pressing ${role} ${name}`);
    },
    type: async (label, text) => {
      await reach(page, field(page, label));
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.insertText(text);
    },
    choose: async (label, option) => {
      const target = field(page, label);
      await reach(page, target);
      // As a person does it: the first letters of the option.
      await page.keyboard.type(option);
      expect(await target.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.text)).toBe(option);
    },
    unfold: async (summary) => {
      await reach(page, heading(page, summary));
      await page.keyboard.press("Enter");
      await expectFocus(page, `after opening ${summary}`);
    },
    chooseFile: async (button, path) => {
      await reach(page, control(page, "button", button));
      await withFile(page, path, async () => await page.keyboard.press("Enter"));
      await expectFocus(page, `after choosing a file with ${button}`);
    },
  };
}

function control(page: Page, role: Role, name: Name): Locator {
  return scope(page)
    .getByRole(role, { name, exact: typeof name === "string" })
    .filter({ visible: true })
    .first();
}

/** Fields that may stay empty say so behind their label. */
function field(page: Page, label: Name): Locator {
  const name = typeof label === "string" ? new RegExp(`^${RegExp.escape(label)}(?: \\(optional\\))?$`) : label;
  return scope(page).getByLabel(name).filter({ visible: true }).first();
}

function heading(page: Page, text: Name): Locator {
  return scope(page).locator("summary").filter({ hasText: text, visible: true }).first();
}

/** What lies under an open dialog cannot be reached. */
function scope(page: Page): Locator {
  return page.locator("dialog[open], :root:not(:has(dialog[open])) body");
}

async function withFile(page: Page, path: string, open: () => Promise<void>): Promise<void> {
  const opened = page.waitForEvent("filechooser");
  // What is pressed can overtake what tells a busy page to hand its dialog over; an answer of the page cannot.
  const [chooser] = await Promise.all([opened, page.evaluate(() => undefined).then(open)]);
  await chooser.setFiles(path);
}

/** More stops than any page has. */
const MAX_STOPS = 200;

/** Goes there with Tab, or within a group with the arrow keys. Throws if it cannot be reached; tests each stop on the way. */
async function reach(page: Page, target: Locator, isInGroup = false): Promise<void> {
  await target.waitFor();
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    if (await hasFocus(target)) return;
    if (isInGroup && (await isInFocusedGroup(target))) await page.keyboard.press("ArrowDown");
    else await page.keyboard.press("Tab");
    await expectSeen(page);
  }
  throw new Error(`Tab does not get to ${target}`);
}

function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}

function isInFocusedGroup(target: Locator): Promise<boolean> {
  return target.evaluate(({ name }: HTMLInputElement) => {
    const focused = document.activeElement;
    return focused instanceof HTMLInputElement && focused.type === "radio" && focused.name === name;
  });
}

/** What has the focus is in the open dialog if there is one, and not wholly covered (WCAG 2.4.11). Past the last stop it is the browser's. */
async function expectSeen(page: Page): Promise<void> {
  const fault = await page.evaluate(() => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body || focused === document.documentElement) return "";
    const name = focused.outerHTML.slice(0, 120);
    const dialog = document.querySelector("dialog[open]");
    if (dialog !== null && !dialog.contains(focused)) return `outside of the open dialog: ${name}`;
    const { left, right, top, bottom } = focused.getBoundingClientRect();
    const shares = [0.1, 0.5, 0.9];
    const points = shares.flatMap((x) =>
      shares.map((y) => [left + (right - left) * x, top + (bottom - top) * y] as const),
    );
    const labels = (focused as HTMLInputElement).labels ?? [];
    const isSeen = points.some(([x, y]) => {
      const hit = document.elementFromPoint(x, y);
      return hit !== null && (focused.contains(hit) || [...labels].some((label) => label.contains(hit)));
    });
    return isSeen ? "" : `covered: ${name}`;
  });
  expect(fault).toBe("");
}

/** The focus is somewhere; what a step takes away may cost it for the moment until the next thing is shown. */
export async function expectFocus(page: Page, when: string): Promise<void> {
  const deadline = performance.now() + HANG;
  while ((await focusedName(page)) === "" && !(await hasFocusedElement(page))) {
    if (performance.now() > deadline) throw new Error(`The focus is lost ${when}`);
    await page.waitForTimeout(20);
  }
}

function hasFocusedElement(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const focused = document.activeElement;
    return focused !== null && focused !== document.body && focused.isConnected;
  });
}
