// Offsets in characters, as the tasks promise them: a character is a code point, whatever number of units JavaScript needs for it.

export type CharacterOffset = (unitOffset: number) => number;

/** The function must be asked with offsets that never decrease. */
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
