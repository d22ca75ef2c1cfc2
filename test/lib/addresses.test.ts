import { describe, expect, test } from "bun:test";
import {
  createAddressRanges,
  createHostRule,
  isHostName,
  isPublicAddress,
  mayBePublicHost,
  readServerAddress,
} from "../../src/lib/addresses.ts";

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

test("exempt addresses and every name may be asked besides the public ones", () => {
  const mayBeAsked = createHostRule(createAddressRanges(["10.0.0.0/8", "fd00::/8"]));
  const asked = ["10.1.2.3", "[fd00::1]", "8.8.8.8", "[2606:4700::1]", "localhost", "db.internal", "example.com"];
  expect(asked.filter((host) => !mayBeAsked(host))).toEqual([]);
  const refused = ["127.0.0.1", "192.168.0.1", "[::1]", "[fe80::1]", "a..example.com", ""];
  expect(refused.filter(mayBeAsked)).toEqual([]);
  const mayBeAskedWithoutExemption = createHostRule(createAddressRanges([]));
  expect(["10.1.2.3", "localhost", "example.com"].map(mayBeAskedWithoutExemption)).toEqual([false, false, true]);
});

test.each([
  ["10.0.0.2", "10.0.0.2"],
  [" 10.0.0.2 ", "10.0.0.2"],
  ["10.0.0.2:1", "10.0.0.2:1"],
  ["10.0.0.2:65535", "10.0.0.2:65535"],
  ["fd00::2", "fd00::2"],
  ["[fd00::2]", "fd00::2"],
  ["[fd00::2]:5353", "[fd00::2]:5353"],
])("%p is the address of a server %p", (text, address) => {
  expect(readServerAddress(text)).toBe(address);
});

test.each([
  "",
  "example.com",
  "10.0.0.2:0",
  "10.0.0.2:65536",
  "10.0.0.2:",
  "10.0.0.2:x",
  "[10.0.0.2]:53",
  "[fd00::2",
  "[]",
  "fe80::1%eth0",
  "[fe80::1%eth0]:53",
])("%p is not the address of a server", (text) => {
  expect(() => readServerAddress(text)).toThrow(`"${text}" is not an address`);
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

  test("may be one address or all of them", () => {
    const one = createAddressRanges(["10.0.0.1/32", "fd00::1/128"]);
    expect(["10.0.0.1", "10.0.0.0", "fd00::1", "fd00::"].map(one.has)).toEqual([true, false, true, false]);
    const all = createAddressRanges(["0.0.0.0/0", "::/0"]);
    expect(["8.8.8.8", "255.255.255.255", "2606:4700::1"].map(all.has)).toEqual([true, true, true]);
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
