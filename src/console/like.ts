/** Misspelled words of an address. The service finds more of them; this costs a page next to nothing. */

/** Whether the words are the same but for case, `_` and `-`, or one letter that is missing, too many, wrong or in its neighbour's place. */
export function isLike(one: string, other: string): boolean {
  const [a, b] = [plain(one), plain(other)];
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const rest = (text: string, from: number) => text.slice(at + from);
  const isSwapped = a[at] === b[at + 1] && a[at + 1] === b[at] && rest(a, 2) === rest(b, 2);
  return isSwapped || rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1);
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[-_]/g, "");
}
