// A member called `__proto__` is an attack on readers that copy members by assignment: they drop it or change an object's prototype. A
// document of a caller must not have one, at any depth.

const forbidden = "__proto__";
/** Some character of the name, written as an escape. */
const escapedCharacter = /\\u00(?:5f|7[0-4]|6f)/i;

/** The path of the first such member, or null. `value` is what JSON.parse made of `text`. */
export function findForbiddenKey(text: string, value: unknown): readonly (string | number)[] | null {
  // Nearly every document is cleared by this search of its text.
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
