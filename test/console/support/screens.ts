/** Every screen of the console and the states it is looked at in; the tests that go over all screens share this table. */

import type { Page } from "playwright-core";
import { PAGES, type PageName } from "../../../src/shared/pages.ts";
import type { Filled } from "./data.ts";

export interface Screen {
  readonly name: PageName;
  readonly who: "nobody" | "user" | "admin";
  /** The address, with what is in the data. */
  readonly path: (filled: Filled) => string;
  /** Whether what it shows comes from the service, so that it has to design waiting, failing and emptiness. */
  readonly isFed: boolean;
  /** Dialogs and further states, by name: how to get there from the screen as it opens. */
  readonly dialogs: Readonly<Record<string, (page: Page) => Promise<void>>>;
}

function screen(name: PageName, who: Screen["who"], rest: Partial<Omit<Screen, "name" | "who">> = {}): Screen {
  return { name, who, path: () => PAGES[name], isFed: who !== "nobody", dialogs: {}, ...rest };
}

/** Presses the first button whose name begins like this. */
export function press(name: RegExp): (page: Page) => Promise<void> {
  return (page) => page.getByRole("button", { name }).first().click();
}

export const SCREENS: readonly Screen[] = [
  screen("home", "nobody"),
  screen("apply", "nobody"),
  screen("login", "nobody"),
  screen("forgot", "nobody"),
  screen("reset", "nobody"),
  screen("me", "user"),
  screen("keys", "user"),
  screen("connect", "user"),
  screen("trail", "user"),
  screen("notMe", "user"),
  screen("dashboard", "admin"),
  screen("applications", "admin"),
  screen("users", "admin"),
  screen("user", "admin", { path: ({ userId }) => PAGES.user.replace(":id", String(userId)) }),
  screen("audit", "admin"),
  screen("settings", "admin"),
  screen("admins", "admin"),
  screen("account", "admin", { isFed: false }),
];
