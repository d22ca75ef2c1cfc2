// Filters live in the address, so that what one sees can be shared and the browser's back button works.

import { useCallback } from "react";
import { useSearchParams } from "react-router";

export interface UrlState {
  /** Empty when the address does not have it. */
  get(name: string): string;
  getAll(name: string): string[];
  /** Empty values are removed from the address. Replaces the entry of the history: typing in a filter is not a step. */
  set(changes: Readonly<Record<string, string | readonly string[] | null>>): void;
}

export function useUrlState(): UrlState {
  const [parameters, setParameters] = useSearchParams();
  const set = useCallback<UrlState["set"]>(
    (changes) =>
      setParameters(
        () => {
          // Two changes may follow each other before the page is rendered again: the second must not undo the first.
          const next = readAddress();
          for (const [name, value] of Object.entries(changes)) {
            next.delete(name);
            for (const one of typeof value === "string" ? [value] : (value ?? []))
              if (one !== "") next.append(name, one);
          }
          return next;
        },
        { replace: true },
      ),
    [setParameters],
  );
  return { get: (name) => parameters.get(name) ?? "", getAll: (name) => parameters.getAll(name), set };
}

/** The parameters of the address as it is now, which may be newer than what is rendered. */
export function readAddress(): URLSearchParams {
  return new URLSearchParams(location.search);
}
