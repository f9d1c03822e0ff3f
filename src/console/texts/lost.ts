/** The page for addresses that have none. */

import { PAGES } from "../../shared/product/pages.ts";
import { common } from "./common.ts";
import { inLanguage } from "./language.ts";

const { nav } = common;

/** The name of each page, by its path. */
const NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({ ...nav.user, ...nav.admin, ...nav.public, account: nav.account }).map(([page, name]) => [
    PAGES[page as keyof typeof PAGES],
    name,
  ]),
);

const en = {
  title: "There is no such page",
  text: "The address may be mistyped, or the page has moved.",
  meant: "The address may be mistyped, or the page has moved. You may have meant:",
  first: "Go to the first page",
  own: "Go to your own pages",
  /** The name of the page at a path; of one with a number, its list's and the number. */
  nameOf: (path: string) => {
    const [, list = "", number = ""] = /^(.*)\/(\d+)$/.exec(path) ?? [];
    return NAMES[path] ?? (number === "" ? path : `${NAMES[list] ?? list} ${number}`);
  },
};

export const lostTexts = inLanguage({ en });
