// Pairs in one text, as OpenTelemetry's settings write them.

import { decodePercent } from "./percent-decoding.ts";

/** `name=value,name=value`, with percent-encoded values. Throws. */
export function readPairs(text: string): Record<string, string> {
  const pairs: [string, string][] = [];
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    if (name === "") throw new Error("should be pairs such as name=value, separated by commas");
    const decoded = decodePercent(value);
    if (decoded === null)
      throw new Error(`has a '%' that begins no valid escape in the value of ${name}; write % as %25`);
    pairs.push([name, decoded]);
  }
  return Object.fromEntries(pairs);
}
