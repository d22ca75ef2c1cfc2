/**
 * Removes the spaces and tabs around a header's value, and nothing else. `String.trim` also removes non-breaking spaces and line
 * separators, so two parsers could read different values from the same header.
 */
export function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
