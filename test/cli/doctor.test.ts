// What `switchyard doctor` finds in what was measured, without a machine that has these faults.

import { describe, expect, test } from "bun:test";
import { readFileSync, statfsSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import {
  checkClock,
  checkDisk,
  checkMemory,
  checkOpenFiles,
  measureDisk,
  measureMemory,
  measureOpenFiles,
} from "../../src/cli/doctor/machine.ts";
import { checkProviders } from "../../src/cli/doctor/providers.ts";
import { readConfig } from "../../src/config.ts";
import { findKeyProblems } from "../../src/providers/check-keys.ts";
import { rows } from "../../src/providers/index.ts";

const [megabyte, gigabyte] = [1_048_576, 1_073_741_824];

describe("disk", () => {
  test.each([
    [50 * megabyte, 100_000, "problem"],
    [100 * megabyte - 1, 100_000, "problem"],
    [100 * megabyte, 100_000, "warning"],
    [gigabyte - 1, 100_000, "warning"],
    [gigabyte, 100_000, "ok"],
    [5 * gigabyte, null, "ok"],
    [5 * gigabyte, 999, "problem"],
    [5 * gigabyte, 1_000, "ok"],
  ] as const)("with %d bytes and %d files free: %s %s", (freeBytes, freeFiles, severity) => {
    const finding = checkDisk({ folder: "/data", freeBytes, freeFiles });
    expect(finding).toMatchObject({ severity, message: expect.stringContaining("/data") });
    expect(finding.remedy === null).toBe(severity === "ok");
  });

  test("is named with the megabytes that are free", () => {
    const { message } = checkDisk({ folder: "/data", freeBytes: 50.9 * megabyte, freeFiles: null });
    expect(message).toBe("Only 50 MB are free on the disk of /data.");
  });
});

describe("what is measured on this machine", () => {
  test("is the disk of a folder", () => {
    const { folder, freeBytes, freeFiles } = measureDisk(tmpdir());
    expect([folder, freeBytes > 0]).toEqual([tmpdir(), true]);
    expect(freeFiles === null).toBe(statfsSync(tmpdir()).files === 0);
  });

  test("never exceeds the memory of the machine", () => {
    expect(measureMemory()).toBeWithin(1, totalmem() + 1);
  });

  test.skipIf(process.platform !== "linux")("is the limit of open files of this process", () => {
    const limit = measureOpenFiles();
    const shown = limit === Number.MAX_SAFE_INTEGER ? "unlimited" : String(limit);
    expect(readFileSync("/proc/self/limits", "utf8")).toMatch(new RegExp(`^Max open files +${shown} `, "m"));
  });
});

test.each([
  [256, "problem"],
  [1_023, "problem"],
  [1_024, "warning"],
  [16_383, "warning"],
  [16_384, "ok"],
  [null, "ok"],
] as const)("a limit of %d open files is %s", (limit, severity) => {
  expect(checkOpenFiles(limit).severity).toBe(severity);
});

test.each([
  [256 * megabyte - 1, 1, "problem"],
  [256 * megabyte, 1, "ok"],
  [600 * megabyte - 1, 4, "warning"],
  [600 * megabyte, 4, "ok"],
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

  test.each([
    [5_000, "ok"],
    [5_001, "warning"],
    [60_000, "warning"],
    [60_001, "problem"],
  ])("a difference of %d ms in either direction is %s, and the largest one counts", (ms, severity) => {
    for (const aheadMs of [ms, -ms])
      expect(checkClock([...database(0), ...database(aheadMs)], [], now).severity as string).toBe(severity);
  });

  test("that agree are named", () => {
    expect(checkClock([...database(0), { source: "openai", aheadMs: 0 }], [], now).message).toBe(
      "The clock agrees with the database, openai.",
    );
  });

  test("that could not be compared are a note with a remedy that holds with --call too", () => {
    expect(checkClock([], [], now)).toMatchObject({
      severity: "note",
      remedy: expect.stringContaining("configured provider"),
    });
  });

  test("a store that was written in the future shows a clock that is behind", () => {
    expect(checkClock([], [now + 3_600_000], now)).toMatchObject({
      severity: "problem",
      message: expect.stringContaining("3600 s behind"),
    });
    expect(checkClock([], [now + 60_001], now).severity).toBe("problem");
    for (const storedAt of [now + 60_000, now - 1]) expect(checkClock([], [storedAt], now).severity).toBe("note");
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

test("the providers that are configured are listed, with what is wrong with their keys", () => {
  const findings = (env: Record<string, string>) =>
    checkProviders(readConfig(env)).map(({ severity, message }) => [severity, message]);
  expect(findings({})).toEqual([
    ["note", "No provider is configured."],
    ["ok", "Every key has the form of a key."],
  ]);
  expect(findings({ OPENAI_API_KEY: "sk-proj-0123456789", MISTRAL_API_KEY: "<key>" })).toEqual([
    ["ok", "2 configured: mistral, openai."],
    ["problem", "MISTRAL_API_KEY is a placeholder."],
  ]);
  expect(findings({ OPENAI_API_KEY: "new-form-0123456789" })[1]?.[0]).toBe("warning");
});
