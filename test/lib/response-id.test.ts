import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createResponseIds } from "../../src/lib/response-id.ts";

const secret = randomBytes(32);
const ids = createResponseIds(secret);

describe("ids of responses", () => {
  test("both kinds look alike, and no two are the same", () => {
    const issued = Array.from({ length: 2000 }, (_, index) =>
      ids.issue("tenant", index % 2 === 0 ? "stored" : "not-stored"),
    );
    for (const id of issued) expect(id).toMatch(/^resp_[0-9a-f]{48}$/);
    expect(new Set(issued).size).toBe(issued.length);
  });

  test("one that was not stored is known to its owner's gateway, after a restart and at every replica", () => {
    const replica = createResponseIds(Uint8Array.from(secret));
    for (const owner of ["tenant", "", "Zoë \u{1f3e2}", "x".repeat(10_000)]) {
      const id = ids.issue(owner, "not-stored");
      expect(ids.isOwnUnstored(id, owner)).toBe(true);
      expect(replica.isOwnUnstored(id, owner)).toBe(true);
    }
  });

  test("one that was stored never passes for one that was not", () => {
    for (let round = 0; round < 5000; round += 1) {
      expect(ids.isOwnUnstored(ids.issue("tenant", "stored"), "tenant")).toBe(false);
    }
  });

  test("another owner's id is unknown, however similar the owner", () => {
    const id = ids.issue("tenant", "not-stored");
    for (const owner of ["", "Tenant", "tenant ", " tenant", "tenan", "tenant\u0000", "tenant2"]) {
      expect(ids.isOwnUnstored(id, owner)).toBe(false);
    }
  });

  test("an id of another gateway is unknown", () => {
    const other = createResponseIds(randomBytes(32));
    expect(ids.isOwnUnstored(other.issue("tenant", "not-stored"), "tenant")).toBe(false);
    expect(other.isOwnUnstored(ids.issue("tenant", "not-stored"), "tenant")).toBe(false);
  });

  test("an id with any one character changed is unknown", () => {
    const id = ids.issue("tenant", "not-stored");
    for (let index = 0; index < id.length; index += 1) {
      const changed = id[index] === "0" ? "1" : "0";
      expect(ids.isOwnUnstored(id.slice(0, index) + changed + id.slice(index + 1), "tenant")).toBe(false);
    }
  });

  test("the signature of one id does not fit another", () => {
    const [one, two] = [ids.issue("tenant", "not-stored"), ids.issue("tenant", "not-stored")];
    expect(ids.isOwnUnstored(one.slice(0, -20) + two.slice(-20), "tenant")).toBe(false);
  });

  test("text of every other length or shape is unknown and breaks nothing", () => {
    const id = ids.issue("tenant", "not-stored");
    for (let length = 0; length < id.length; length += 1) {
      expect(ids.isOwnUnstored(id.slice(0, length), "tenant")).toBe(false);
    }
    const odd = [
      `${id}0`,
      `${id}00`,
      ` ${id}`,
      `${id}\n`,
      id.toUpperCase(),
      id.slice(5),
      `msg_${id.slice(5)}`,
      `${id}${id}`,
    ];
    odd.push(`resp_${id.slice(5).toUpperCase()}x`, `resp_${"é".repeat(48)}`, `resp_${"g".repeat(48)}`);
    for (const text of odd) expect([text, ids.isOwnUnstored(text, "tenant")]).toEqual([text, false]);
  });

  test("a secret that is too short to protect anything is refused", () => {
    expect(() => createResponseIds(randomBytes(31))).toThrow("at least 32 bytes");
    expect(() => createResponseIds(new Uint8Array())).toThrow("at least 32 bytes");
  });
});
