// Compares words regardless of capitals and accents.

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
  "`": "'",
};

/** Small letters without accents. Each character stays one character, so that offsets in the text remain valid. */
export function foldCase(text: string): string {
  return text.replace(/[^\x00-\x7f]/g, foldCharacter).toLowerCase();
}

function foldCharacter(character: string): string {
  const small = character.toLowerCase().charAt(0);
  const known = Object.hasOwn(plain, small) ? plain[small] : undefined;
  return known ?? small.normalize("NFD").charAt(0);
}
