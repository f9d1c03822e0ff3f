/** Windows as texts of moments, as hosts are told of them. */

/** Open from `from`, and no longer at `to`: `YYYY-MM-DDTHH:MM:SS.mmmZ`, which sort as they follow. */
export interface TextSpan {
  readonly from: string;
  readonly to: string;
}

/** What is in both lists, each in order and apart from each other. */
export function commonSpans(ones: readonly TextSpan[], others: readonly TextSpan[]): readonly TextSpan[] {
  const common: TextSpan[] = [];
  for (let i = 0, j = 0; i < ones.length && j < others.length; ) {
    const one = ones[i] as TextSpan;
    const other = others[j] as TextSpan;
    const from = one.from > other.from ? one.from : other.from;
    const to = one.to < other.to ? one.to : other.to;
    if (from < to) common.push({ from, to });
    if (one.to < other.to) i++;
    else j++;
  }
  return common;
}
