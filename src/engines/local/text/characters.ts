// Converts offsets in UTF-16 units to offsets in code points, which the tasks use.

export type CharacterOffset = (unitOffset: number) => number;

/** The returned function must be called with offsets that never decrease. */
export function characterOffsets(text: string): CharacterOffset {
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
