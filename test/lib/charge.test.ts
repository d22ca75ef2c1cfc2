// What an answer costs: a stated amount, and the sum of several calls.

import { expect, test } from "bun:test";
import { addCharges, completeCharge, toKnownCharge, toUnknownCharge } from "../../src/lib/charge.ts";

const basis = { units: { pages: 2 } };

test("a stated cost is the provider's unless it names the version of its prices", () => {
  expect(completeCharge({ cost: 0.25, reason: null })).toEqual({
    cost: 0.25,
    reason: null,
    pico: 250_000_000_000,
    version: "vendor",
    basis: null,
  });
  expect(completeCharge({ cost: 0.25, reason: null, version: "2026-01", pico: 250_000_000_001, basis })).toEqual({
    cost: 0.250_000_000_001,
    reason: null,
    pico: 250_000_000_001,
    version: "2026-01",
    basis,
  });
});

test("a stated cost of 0 is free; computed from prices, it keeps their version", () => {
  const free = { cost: 0, reason: null, pico: 0, version: "free", basis: null };
  expect(completeCharge({ cost: 0, reason: null })).toEqual(free);
  expect(completeCharge({ cost: 0, reason: null, version: "2026-01" })).toMatchObject({ cost: 0, version: "2026-01" });
});

test("an unknown cost says why, and what it would be computed from", () => {
  expect(completeCharge({ cost: null, reason: null })).toEqual(toUnknownCharge("price_unknown"));
  expect(completeCharge({ cost: null, reason: "usage_unknown", basis })).toEqual(
    toUnknownCharge("usage_unknown", basis),
  );
});

test.each([-0.01, 1e10, Number.NaN, Number.POSITIVE_INFINITY])("a stated cost of %p is out of range", (cost) => {
  expect(completeCharge({ cost, reason: null })).toEqual(toUnknownCharge("out_of_range"));
  expect(completeCharge({ cost, reason: null, basis })).toEqual(toUnknownCharge("out_of_range", basis));
});

test("the costs of several calls are added, and each keeps its basis", () => {
  const first = toKnownCharge(1_500, "2026-01", basis);
  const second = toKnownCharge(2_500, "2026-02", null);
  expect(addCharges([first, second])).toEqual(toKnownCharge(4_000, "2026-01", { calls: [basis, null] }));
  expect(addCharges([first])).toBe(first);
});

test("one unknown cost makes the sum unknown", () => {
  const known = toKnownCharge(1_500, "2026-01", basis);
  const unknown = toUnknownCharge("price_unknown");
  const sum = toUnknownCharge("price_unknown", { calls: [basis, null] });
  expect(addCharges([known, unknown])).toEqual(sum);
  expect(addCharges([])).toEqual(toUnknownCharge("usage_unknown"));
});

test("a sum that is not exact any more is out of range", () => {
  const large = toKnownCharge(Number.MAX_SAFE_INTEGER, "2026-01", null);
  const sum = addCharges([large, toKnownCharge(1, "2026-01", null)]);
  expect(sum).toEqual(toUnknownCharge("out_of_range", { calls: [null, null] }));
});
