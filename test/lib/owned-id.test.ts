// Ids that carry their owner's mark.

import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createOwnedIds } from "../../src/lib/owned-id.ts";

const secret = randomBytes(32);
const owned = createOwnedIds(secret);
const mine = { owner: "owner:a", place: "openai" };

test("an id comes back as it was for whom it was marked", () => {
  for (const id of ["msg_1", "x", "with_sy_inside", "msg_1_sy0123456789abcdef0123", "é\n\0", "a".repeat(900)]) {
    const marked = owned.sign(id, mine);
    expect(marked).not.toBe(id);
    expect(owned.verify(marked, mine)).toBe(id);
  }
});

test("every process with the same secret opens it, and no other", () => {
  const marked = owned.sign("msg_1", mine);
  expect(createOwnedIds(secret).verify(marked, mine)).toBe("msg_1");
  expect(createOwnedIds(randomBytes(32)).verify(marked, mine)).toBeNull();
});

test("nobody else opens it, and not at another place", () => {
  const marked = owned.sign("msg_1", mine);
  for (const scope of [
    { owner: "owner:b", place: "openai" },
    { owner: "owner:a", place: "openai#2" },
    { owner: "owner:aopen", place: "ai" },
    { owner: 'owner:a","openai', place: "" },
  ])
    expect(owned.verify(marked, scope)).toBeNull();
});

test("what was changed, cut, marked twice or never marked is not opened", () => {
  const marked = owned.sign("msg_1", mine);
  const last = marked.at(-1) === "0" ? "1" : "0";
  for (const other of [
    "",
    "msg_1",
    `${marked.slice(0, -1)}${last}`,
    marked.slice(0, -1),
    `${marked}0`,
    `x${marked}`,
    marked.toUpperCase(),
    marked.replace("msg_1", "msg_2"),
    `_sy${"0".repeat(20)}`,
    "a".repeat(100_000),
    `${"_sy00000000000000000000".repeat(5_000)}`,
  ])
    expect(owned.verify(other, mine)).toBeNull();
  expect(owned.verify(owned.sign(marked, mine), mine)).toBe(marked);
});
