// The caller of a request that has tags of its own.

import type { Caller } from "../access/caller.ts";
import type { Tags } from "../contract/tags.ts";
import type { Trace } from "./trace.ts";

/** Of tags with the same name, that of the request wins. */
export function mergeTags(tags: Tags, ofRequest: Tags | null | undefined): Tags {
  return ofRequest == null ? tags : { ...tags, ...ofRequest };
}

/** Calls are recorded with the tags of the caller that is returned, and a refusal with those of the trace. */
export function tagCaller(caller: Caller, tags: Tags | null | undefined, trace: Trace): Caller {
  if (tags == null) return caller;
  trace.tags = tags;
  return { ...caller, tags: mergeTags(caller.tags, tags) };
}
