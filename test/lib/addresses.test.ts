import { describe, expect, test } from "bun:test";
import { createAddressRanges, isHostName, isPublicAddress, mayBePublicHost } from "../../src/lib/addresses.ts";

describe("only global unicast addresses are public", () => {
  test.each([
    "8.8.8.8",
    "1.1.1.1",
    "168.63.129.17",
    "100.128.0.1",
    "172.32.0.1",
    "2001:200::1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:810::200e",
  ])("%s is", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.31.255.255",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "168.63.129.16",
    "192.0.0.192",
    "203.0.113.255",
    "240.0.0.1",
    "2001:0:4136:e378::1",
    "3fff::1",
    "fec0::1",
    "ff02::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "8.8.8.8 ",
    "010.8.8.8",
    "[::1]",
    "",
    "not an address",
  ])("%s is not", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

test("a host by name may be public unless its form says otherwise", () => {
  expect(["example.com", "8.8.8.8", "[2606:4700::1]"].map(mayBePublicHost)).toEqual([true, true, true]);
  expect(
    ["localhost", "a.localhost", "printer", "db.internal", "x.local", "[::1]", "127.0.0.1", "a..example.com"].map(
      mayBePublicHost,
    ),
  ).toEqual(Array.from({ length: 8 }, () => false));
});

test("a name has parts of 1 to 63 characters, 253 in all, and may end with a dot", () => {
  const longest = `${"a".repeat(63)}.`.repeat(3) + "a".repeat(61);
  expect(["a", "a.b", "a.b.", longest, `${longest}.`].map(isHostName)).toEqual(Array.from({ length: 5 }, () => true));
  expect(["", ".", "a..b", ".a", "a..", `${"a".repeat(64)}.b`, `${longest}a`].map(isHostName)).toEqual(
    Array.from({ length: 7 }, () => false),
  );
});

describe("a set of ranges", () => {
  const ranges = createAddressRanges(["10.0.0.0/8", " 192.168.1.7 ", "fd00::/8", "::1"]);

  test("holds what lies inside, and IPv4 also in its mapped form", () => {
    const inside = ["10.0.0.0", "10.255.255.255", "192.168.1.7", "fd12::1", "::1", "::ffff:10.1.2.3"];
    expect(inside.map(ranges.has)).toEqual(inside.map(() => true));
    const outside = [
      "9.255.255.255",
      "11.0.0.0",
      "192.168.1.8",
      "fc00::1",
      "::2",
      "::ffff:11.0.0.0",
      "fd00::1%eth0",
      "x",
    ];
    expect(outside.map(ranges.has)).toEqual(outside.map(() => false));
    expect([ranges.isEmpty, createAddressRanges([]).isEmpty]).toEqual([false, true]);
  });

  test("is not made from anything else", () => {
    for (const range of [
      "10.0.0.0/33",
      "10.0.0.0/x",
      "10.0.0.0/ 8",
      "10.0.0.0/8/9",
      "10/8",
      "::/129",
      "fe80::%1/64",
      "",
    ])
      expect(() => createAddressRanges([range])).toThrow(`"${range}" is not a range of addresses`);
  });
});
