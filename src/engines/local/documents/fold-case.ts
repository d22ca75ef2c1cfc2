// Removes case and accents, so that words can be compared without them.

const plain: Readonly<Record<string, string>> = {
  ß: "s",
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  ı: "i",
  æ: "a",
  œ: "o",
  "’": "'",
};

/**
 * Lower-case letters without accents. Each character is replaced by exactly one, so that offsets in the text remain valid. Kana and Hangul stay as
 * they are: without their marks they would be other letters.
 */
export function foldCase(text: string): string {
  return text.replace(/[^\x00-\x7f\u3040-\u30ff\uac00-\ud7a3]/g, foldCharacter).toLowerCase();
}

function foldCharacter(character: string): string {
  const lower = character.toLowerCase().charAt(0);
  const known = Object.hasOwn(plain, lower) ? plain[lower] : undefined;
  return known ?? lower.normalize("NFD").charAt(0);
}
