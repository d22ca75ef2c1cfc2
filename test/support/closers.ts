// What a test opens is closed after it.

import { afterEach } from "bun:test";

/** A list for functions that close something: each is called once, after the test that added it. */
export function closeAfterEach(): (() => void)[] {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });
  return closers;
}
