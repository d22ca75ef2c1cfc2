import { describe, expect, test } from "bun:test";
import { isPublicAddress, mayBePublicHost } from "../src/lib/addresses.ts";

describe("only global unicast addresses are public", () => {
  test.each(["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:810::200e"])("%s is", (address) => {
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
    "not an address",
  ])("%s is not", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

test("a host by name may be public unless its form says otherwise", () => {
  expect(["example.com", "8.8.8.8", "[2606:4700::1]"].map(mayBePublicHost)).toEqual([true, true, true]);
  expect(
    ["localhost", "a.localhost", "printer", "db.internal", "x.local", "[::1]", "127.0.0.1"].map(mayBePublicHost),
  ).toEqual(Array.from({ length: 7 }, () => false));
});
