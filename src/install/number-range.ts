/** A range of whole numbers as a regular expression. */

/**
 * A POSIX extended regular expression that matches exactly the decimal numbers from `first` to `last`, both included, without
 * leading zeros: alternatives without an outer group. Both must be whole and `1 <= first <= last`.
 */
export function numberRange(first: number, last: number): string {
  const parts: string[] = [];
  for (let from = first; from <= last; ) {
    // The largest power of ten whose block of numbers begins here and ends within the range.
    let size = 1;
    while (from % (size * 10) === 0 && from + size * 10 - 1 <= last) size *= 10;
    const digit = Math.floor(from / size) % 10;
    const reach = Math.floor((last - from + 1) / size) - 1;
    const highest = Math.min(9, digit + reach);
    const prefix = Math.floor(from / (size * 10));
    const zeros = Math.round(Math.log10(size));
    const any = zeros === 0 ? "" : zeros === 1 ? "[0-9]" : `[0-9]{${zeros}}`;
    parts.push(`${prefix === 0 ? "" : prefix}${digit === highest ? digit : `[${digit}-${highest}]`}${any}`);
    from += (highest - digit + 1) * size;
  }
  return parts.join("|");
}
