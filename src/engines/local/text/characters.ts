// Characters of a text. Offsets of tasks count code points, offsets of strings UTF-16 units.

/** The returned function must be called with offsets that never decrease. */
export function characterOffsets(text: string): (unitOffset: number) => number {
  let unit = 0;
  let character = 0;
  return (unitOffset) => {
    while (unit < unitOffset) {
      unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
      character++;
    }
    return character;
  };
}

export function countCharacters(text: string): number {
  return characterOffsets(text)(text.length);
}

/** Removes matching characters from the end. `replace(/[…]+$/)` takes quadratic time on a long run of them inside the text. */
export function trimEndOf(text: string, character: RegExp): string {
  let end = text.length;
  while (end > 0 && character.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
