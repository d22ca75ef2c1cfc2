// Pairs in one text, as OpenTelemetry's settings write them.

/** `name=value,name=value`, with percent-encoded values. Throws. */
export function readPairs(text: string): Record<string, string> {
  const pairs: [string, string][] = [];
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    if (name === "") throw new Error("should be pairs such as name=value, separated by commas");
    pairs.push([name, decodeURIComponent(value)]);
  }
  return Object.fromEntries(pairs);
}
