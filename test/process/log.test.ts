import { describe, expect, test } from "bun:test";
import { createLog } from "../../src/log.ts";
import { waitFor } from "../support/wait.ts";

function open(secrets: string[] = []) {
  let written = "";
  const log = createLog({
    level: "info",
    format: "json",
    secrets,
    write: (lines) => {
      written += lines;
    },
  });
  return { log, read: () => written };
}

describe("a secret never reaches the log", () => {
  test("wherever it stands", () => {
    const { log, read } = open(["sk-PROVIDER-1", 'quo"ted\\secret']);
    log.info("calling with sk-PROVIDER-1", { headers: { authorization: "Bearer sk-PROVIDER-1" } });
    log.warn("x", { value: 'quo"ted\\secret' });
    log.error("failed", { error: new Error("refused: sk-PROVIDER-1", { cause: new Error("sk-PROVIDER-1") }) });
    log.flush();
    expect(read()).not.toContain("sk-PROVIDER-1");
    expect(read()).not.toContain("ted\\\\secret");
    expect(
      read()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).level),
    ).toEqual(["info", "warn", "error"]);
  });

  test("gateway keys are known by their form", () => {
    const { log, read } = open();
    log.info("key sk-sy-0123456789abcdef mgmt-sy-0123456789abcdef sk-sy-sandbox-0123456789abcdef");
    log.info("a key after a line break:\nsk-sy-0123456789abcdef");
    log.flush();
    expect(read()).not.toContain("0123456789abcdef");
  });

  test("one that is learnt later is hidden from then on", () => {
    const { log, read } = open();
    log.hide("learnt-later");
    log.info("learnt-later");
    log.flush();
    expect(read()).toContain("[hidden]");
    expect(read()).not.toContain("learnt-later");
  });
});

test("an error is written with its cause, and lines below the level are not", () => {
  const { log, read } = open();
  log.debug("not this");
  log.error("this", { error: new TypeError("outer", { cause: new Error("inner") }) });
  expect(JSON.parse(read())).toMatchObject({
    error: { name: "TypeError", message: "outer", cause: { message: "inner" } },
  });
});

test("every line says when it was written", async () => {
  const { log, read } = open();
  const before = Date.now();
  log.info("first");
  await waitFor("another millisecond", () => Date.now() > before + 2);
  const between = Date.now();
  log.info("second");
  log.flush();
  const [first = 0, second = 0] = read()
    .split("\n")
    .filter(Boolean)
    .map((line) => Date.parse(JSON.parse(line).time));
  expect(first).toBeGreaterThanOrEqual(before);
  expect(first).toBeLessThan(between);
  expect(second).toBeGreaterThanOrEqual(between);
});

test("a field that is not known is left out of a line of text", () => {
  const written: string[] = [];
  const write = (lines: string) => void written.push(lines);
  const log = createLog({ level: "info", format: "text", secrets: [], write });
  log.info("attempt", { input_tokens: undefined, cost: null, outcome: "caller_left" });
  log.flush();
  expect(written.join("")).toEndWith("info  attempt cost=null outcome=caller_left\n");
});
