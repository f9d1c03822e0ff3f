/** Which language the texts are shown in. A second one is a folder whose files have the types of the English ones here. */

/** The texts in the reader's language, where there are any, else in English. */
export function inLanguage<T>(texts: { readonly en: T } & Readonly<Record<string, T>>): T {
  // Outside a browser nobody says.
  const wanted = (navigator.languages ?? []).map((language) => language.split("-")[0] ?? "");
  const language = wanted.find((name) => name in texts) ?? "en";
  return texts[language] ?? texts.en;
}

/** A whole number as the reader writes it. */
export function number(value: number): string {
  return value.toLocaleString();
}

/** "1 key", "2 keys". */
export function count(value: number, one: string, many: string): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}
