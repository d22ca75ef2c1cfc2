// Tags: pairs by which usage reports are grouped. Keys and teams have default ones, and a request may add its own.

import { isObject } from "../lib/lenient-json.ts";
import { limitedRecord } from "./problems.ts";
import { plainText } from "./text-values.ts";

export type Tags = Readonly<Record<string, string>>;

const maxPairs = 10;
const maxNameLength = 64;
const maxValueLength = 256;

/** The longest `name=value`. */
export const maxPairLength = maxNameLength + "=".length + maxValueLength;

export const defaultTags = limitedRecord(plainText(maxNameLength), plainText(maxValueLength), maxPairs);

/** Programs fill in the values, so a request is not refused for an empty one. */
export const requestTags = limitedRecord(plainText(maxNameLength), plainText(maxValueLength, 0), maxPairs);

/** The tags of a body that has not been checked yet; null when it has none or they are not valid. */
export function readTags(body: unknown): Tags | null {
  if (!isObject(body) || body["tags"] == null) return null;
  return requestTags.safeParse(body["tags"]).data ?? null;
}
