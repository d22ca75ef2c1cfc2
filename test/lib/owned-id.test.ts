// Provider ids that are signed for one owner.

import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createOwnedIds } from "../../src/lib/owned-id.ts";

const secret = randomBytes(32);
const owned = createOwnedIds(secret);
const mine = { owner: "owner:a", deployment: "openai" };

test("the owner of a signed id gets the provider's id back", () => {
  for (const id of ["msg_1", "x", "with_sy_inside", "msg_1_sy0123456789abcdef0123", "é\n\0", "a".repeat(900)]) {
    const signed = owned.sign(id, mine);
    expect(signed).not.toBe(id);
    expect(owned.verify(signed, mine)).toBe(id);
  }
});

test("every process with the same secret accepts a signed id, and no other process does", () => {
  const signed = owned.sign("msg_1", mine);
  expect(createOwnedIds(secret).verify(signed, mine)).toBe("msg_1");
  expect(createOwnedIds(randomBytes(32)).verify(signed, mine)).toBeNull();
});

test("a signed id is refused for another owner and for another deployment", () => {
  const signed = owned.sign("msg_1", mine);
  for (const scope of [
    { owner: "owner:b", deployment: "openai" },
    { owner: "owner:a", deployment: "openai#2" },
    { owner: "owner:aopen", deployment: "ai" },
    { owner: 'owner:a","openai', deployment: "" },
  ])
    expect(owned.verify(signed, scope)).toBeNull();
});

test("an id that was changed, truncated or never signed is refused", () => {
  const signed = owned.sign("msg_1", mine);
  const last = signed.at(-1) === "0" ? "1" : "0";
  for (const other of [
    "",
    "msg_1",
    `${signed.slice(0, -1)}${last}`,
    signed.slice(0, -1),
    `${signed}0`,
    `x${signed}`,
    signed.toUpperCase(),
    signed.replace("msg_1", "msg_2"),
    `_sy${"0".repeat(20)}`,
    "a".repeat(100_000),
    `${"_sy00000000000000000000".repeat(5_000)}`,
  ])
    expect(owned.verify(other, mine)).toBeNull();
  expect(owned.verify(owned.sign(signed, mine), mine)).toBe(signed);
});

test("an id is signed up to a length of 1,024 with its signature", () => {
  const longest = owned.sign("a".repeat(1_001), mine);
  expect([longest.length, owned.isSigned(longest), owned.verify(longest, mine)?.length]).toEqual([1_024, true, 1_001]);
  const longer = owned.sign("a".repeat(1_002), mine);
  expect([owned.isSigned(longer), owned.verify(longer, mine)]).toEqual([false, null]);
});

test("the form of an id tells whether it is signed", () => {
  expect(["msg_1", "", "_sy00000000000000000000"].filter((id) => owned.isSigned(id))).toEqual([]);
  expect(owned.isSigned("msg_1_sy00000000000000000000")).toBe(true);
});
