import { expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import { SignInLimit } from "../../src/http/sign-in-limit.ts";
import { thrownBy } from "../support/thrown.ts";

const someone = "192.0.2.1";

function startLimit() {
  let now = 0;
  const limit = new SignInLimit(() => now);
  return {
    fail(address: string, times: number) {
      for (let failure = 0; failure < times; failure += 1) limit.count(address);
    },
    check: (address: string) => limit.check(address),
    secondsToWait: (address: string) => thrownBy(() => limit.check(address), GatewayError).details.retryAfter,
    pass(milliseconds: number) {
      now += milliseconds;
    },
  };
}

test("an address with ten failures waits for the rest of the minute, and another address does not", () => {
  const limit = startLimit();
  limit.check(someone);
  limit.fail(someone, 9);
  limit.check(someone);
  limit.fail(someone, 1);
  expect(limit.secondsToWait(someone)).toBe(60);
  limit.check("192.0.2.2");
  limit.pass(20_500);
  expect(limit.secondsToWait(someone)).toBe(40);
  limit.pass(39_499);
  expect(limit.secondsToWait(someone)).toBe(1);
  limit.pass(1);
  limit.check(someone);
});

test("failures of an earlier minute do not count", () => {
  const limit = startLimit();
  limit.fail(someone, 9);
  limit.pass(60_000);
  limit.fail(someone, 1);
  limit.check(someone);
});

test("the number of remembered addresses is bounded", () => {
  const limit = startLimit();
  limit.fail(someone, 10);
  for (let index = 0; index < 9_998; index += 1) limit.fail(`10.0.${index >> 8}.${index & 255}`, 1);
  limit.secondsToWait(someone);
  limit.fail("192.0.2.2", 1);
  limit.check(someone);
});

test.each([
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:a:b:c:d", "2001:db8:1:3:3:4:5:6"],
  ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1"],
  ["2001:db8:1::1", "2001:db8:1:0:5::", "2001:db8:1:1::1"],
  ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"],
  ["2001::1", "2001::2:3:4:5", "2001:0:0:1::"],
  ["::1", "::2", "0:0:0:1::"],
  ["2001:db8::ffff:1", "2001:db8::ffff:2", "2001:db8:1::ffff:1"],
])("%s shares its failures with %s of the same /64 network, and not with %s", (address, neighbour, stranger) => {
  const limit = startLimit();
  limit.fail(address, 10);
  limit.secondsToWait(neighbour);
  limit.check(stranger);
});

test("IPv4 addresses that are written as IPv6 do not share a network", () => {
  const limit = startLimit();
  limit.fail("::ffff:c000:201", 10);
  limit.check("::ffff:c000:202");
});
