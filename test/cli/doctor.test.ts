// What `switchyard doctor` finds in what was measured, without a machine that has these faults.

import { describe, expect, test } from "bun:test";
import { checkClock, checkDisk, checkMemory, checkOpenFiles } from "../../src/cli/doctor/machine.ts";
import { findKeyProblems } from "../../src/providers/check-keys.ts";
import { rows } from "../../src/providers/index.ts";

const [megabyte, gigabyte] = [1_048_576, 1_073_741_824];

describe("disk", () => {
  test.each([
    [50 * megabyte, 100_000, "problem"],
    [500 * megabyte, 100_000, "warning"],
    [5 * gigabyte, 100_000, "ok"],
    [5 * gigabyte, null, "ok"],
    [5 * gigabyte, 10, "problem"],
  ] as const)("with %d bytes and %d files free: %s %s", (freeBytes, freeFiles, severity) => {
    const finding = checkDisk({ folder: "/data", freeBytes, freeFiles });
    expect(finding).toMatchObject({ severity, message: expect.stringContaining("/data") });
    expect(finding.remedy === null).toBe(severity === "ok");
  });
});

test.each([
  [256, "problem"],
  [1_024, "warning"],
  [65_536, "ok"],
  [null, "ok"],
] as const)("a limit of %d open files is %s", (limit, severity) => {
  expect(checkOpenFiles(limit).severity).toBe(severity);
});

test.each([
  [128 * megabyte, 1, "problem"],
  [1 * gigabyte, 16, "warning"],
  [4 * gigabyte, 5, "ok"],
] as const)("%d bytes of memory for %d processes: %s", (totalBytes, processes, severity) => {
  expect(checkMemory({ totalBytes, processes }).severity).toBe(severity);
});

describe("clock", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  const database = (aheadMs: number) => [{ source: "the database", aheadMs }];

  test("a clock that differs from another is named with the direction", () => {
    expect(checkClock(database(300_000), [], now)).toMatchObject({
      severity: "problem",
      message: "The clock is 300 s behind that of the database.",
    });
    expect(checkClock(database(-10_000), [], now)).toMatchObject({
      severity: "warning",
      message: "The clock is 10 s ahead of that of the database.",
    });
    expect(checkClock(database(900), [], now).severity).toBe("ok");
  });

  test("a store that was written in the future shows a clock that is behind", () => {
    expect(checkClock([], [now + 3_600_000], now)).toMatchObject({
      severity: "problem",
      message: expect.stringContaining("3600 s behind"),
    });
    expect(checkClock([], [now - 1], now).severity).toBe("note");
  });
});

describe("keys of providers", () => {
  const find = (settings: Record<string, string>, declared = {}) =>
    findKeyProblems(rows, declared, (name) => settings[name] ?? null);

  test("keys of the right form are not reported", () => {
    const settings = {
      OPENAI_API_KEY: "sk-proj-0123456789",
      ANTHROPIC_API_KEY: "sk-ant-api03-0123456789",
      GROQ_API_KEY: "gsk_0123456789",
      MISTRAL_API_KEY: "0123456789abcdef",
    };
    expect(find(settings)).toEqual([]);
  });

  test.each([
    ["OPENAI_API_KEY", " sk-0123456789", "begins or ends with white space"],
    ["OPENAI_API_KEY", '"sk-0123456789"', "is in quotation marks"],
    ["OPENAI_API_KEY", "Bearer sk-0123456789", "begins with 'Bearer'"],
    ["OPENAI_API_KEY", "your-api-key", "is a placeholder"],
    ["OPENAI_API_KEY", "sk-your-key-here", "is a placeholder"],
    ["OPENAI_API_KEY", "${OPENAI_KEY}", "is a placeholder"],
    ["OPENAI_API_KEY", "sk-1", "has only 4 characters"],
    ["OPENAI_API_KEY", "sk-0123456789…", "has characters that no header can carry"],
    ["OPENAI_API_KEY", "sk-ant-api03-0123456789", "is a key of Anthropic"],
    ["ANTHROPIC_API_KEY", "sk-proj-0123456789", "is a key of OpenAI"],
    ["GROQ_API_KEY", "xai-0123456789", "is a key of xAI"],
    ["MISTRAL_API_KEY", "<key>", "is a placeholder"],
  ])("%s=%s %s", (setting, key, message) => {
    expect(find({ [setting]: key })).toEqual([{ setting, message: expect.stringContaining(message), isCertain: true }]);
  });

  test("an unknown beginning is only suspicious, and no message holds the key", () => {
    const [found] = find({ OPENAI_API_KEY: "new-form-0123456789" });
    expect(found).toMatchObject({ setting: "OPENAI_API_KEY", isCertain: false });
    expect(found?.message).not.toContain("0123456789");
  });

  test("a key for an address of the operator may have any form", () => {
    const own = { OPENAI_API_KEY: "key-of-a-proxy", OPENAI_BASE_URL: "http://127.0.0.1:9000/v1" };
    expect(find(own)).toEqual([]);
    const declared = { openai: { api_key: "key-of-a-proxy", base_url: "http://127.0.0.1:9000/v1" } };
    expect(find({}, declared)).toEqual([]);
  });

  test("a key in the file is named by its place", () => {
    expect(find({}, { openai: { api_key: "changeme" } })).toEqual([
      { setting: "providers.openai.api_key", message: "is a placeholder", isCertain: true },
    ]);
  });
});
