// A text field whose words are in the address a moment after the last key.

import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { readAddress, useUrlState } from "../lib/url-state.ts";

const pauseMs = 350;

/** The text of the field, and a function that changes it. The address has the text without spaces around it. */
export function useTextParameter(name: string): readonly [text: string, change: (text: string) => void] {
  const url = useUrlState();
  const stored = url.get(name);
  const [text, setText] = useState(stored);
  const written = useRef(stored);
  const writeSoon = useDebouncedCallback((value: string) => {
    written.current = value.trim();
    // A list that is filtered in another way begins with its first page.
    url.set({ [name]: written.current, page: null });
  }, pauseMs);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is read when it has changed
  useEffect(() => {
    const current = readAddress().get(name) ?? "";
    // The field's own text comes back from the address, while the person may have typed more.
    if (current === written.current) return;
    // Another control or the back button has changed the address.
    written.current = current;
    writeSoon.cancel();
    setText(current);
  }, [stored]);
  return [
    text,
    (typed) => {
      setText(typed);
      writeSoon(typed);
    },
  ];
}
