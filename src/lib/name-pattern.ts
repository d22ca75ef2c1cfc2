// Patterns for names of models, such as `openai/*`: `*` stands for any text, also for none.

/** In linear time, however many asterisks there are; a regular expression could take exponential time. */
export function fitsPattern(name: string, pattern: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let position = first.length;
  for (const part of others) {
    const found = name.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return name.length - last.length >= position && name.endsWith(last);
}
