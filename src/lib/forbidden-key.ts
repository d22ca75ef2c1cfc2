// Finds members called `__proto__`, which are refused at any depth of a caller's document: code that copies members by assignment drops
// them, or changes an object's prototype.

const forbidden = "__proto__";
/** Some character of the name, written as an escape. */
const escapedCharacter = /\\u00(?:5f|7[0-4]|6f)/i;

/** The path of the first such member, or null. `value` is the parsed `text`. */
export function findForbiddenKey(text: string, value: unknown): readonly (string | number)[] | null {
  // This search of the text is enough for nearly every document.
  if (!text.includes(forbidden) && !(text.includes("\\u") && escapedCharacter.test(text))) return null;
  return find(value);
}

function find(value: unknown): (string | number)[] | null {
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const found = find(element);
      if (found !== null) return [index, ...found];
    }
    return null;
  }
  if (Object.hasOwn(value, forbidden)) return [forbidden];
  for (const [name, member] of Object.entries(value)) {
    const found = find(member);
    if (found !== null) return [name, ...found];
  }
  return null;
}
