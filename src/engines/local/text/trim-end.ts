/** Removes matching characters from the end. `replace(/[…]+$/)` takes quadratic time on a long run of them inside the text. */
export function trimEndOf(text: string, sign: RegExp): string {
  let end = text.length;
  while (end > 0 && sign.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
