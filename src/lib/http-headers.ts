/**
 * The value of a header in the text of a head, repeated ones joined by a comma; null when there is none. `start` is the line break before
 * it, its name in lower case, and the colon.
 */
export function findHeader(text: string, lowerCase: string, start: string): string | null {
  let found: string | null = null;
  for (let at = lowerCase.indexOf(start); at >= 0; at = lowerCase.indexOf(start, at + 1)) {
    const from = at + start.length;
    const end = text.indexOf("\r\n", from);
    const value = (end < 0 ? text.slice(from) : text.slice(from, end)).trim();
    found = found === null ? value : `${found}, ${value}`;
  }
  return found;
}
