/** Which language the texts are shown in. A second one is a folder whose files have the types of the English ones here. */

const TRANSLATED = ["en"];

/** For dates and numbers: a language that the texts have, so that no page mixes two, and of its regions the reader's. */
export function localeOf(wanted: readonly string[]): string {
  return wanted.find((locale) => TRANSLATED.includes(languageOf(locale))) ?? "en-GB";
}

/** Outside a browser nobody says. */
export const LOCALE = localeOf(navigator.languages ?? []);

/** The texts in the reader's language, where there are any, else in English. */
export function inLanguage<T>(texts: { readonly en: T } & Readonly<Record<string, T>>): T {
  return texts[languageOf(LOCALE)] ?? texts.en;
}

/** A whole number as the reader writes it. */
export function number(value: number): string {
  return value.toLocaleString(LOCALE);
}

function languageOf(locale: string): string {
  return locale.split("-")[0] ?? "";
}

/** "1 key", "2 keys". */
export function count(value: number, one: string, many: string): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}
