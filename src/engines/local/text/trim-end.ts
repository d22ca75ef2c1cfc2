/** Without the signs at its end. `replace(/[…]+$/)` looks at a long run inside a text again from each of its signs. */
export function trimEndOf(text: string, sign: RegExp): string {
  let end = text.length;
  while (end > 0 && sign.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
