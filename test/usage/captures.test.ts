// Captured requests wait for the store in bounded memory, and a store that fails costs captures, never requests.

import { afterAll, expect, test } from "bun:test";
import { createSealer } from "../../src/lib/seal.ts";
import { openStorage } from "../../src/storage/storage.ts";
import { createContentRules } from "../../src/tracing/content.ts";
import { type Captured, createCaptures } from "../../src/usage/captures.ts";
import { createEngines, quiet } from "../contracts/engines.ts";
import { openReadableLog } from "../support/readable-log.ts";

const [engine] = createEngines();
afterAll(() => engine.stop());

function makeCaptured(changes: Partial<Captured> = {}): Captured {
  return {
    ...{ requestId: "request", time: 1_000, keyId: "key", team: null, method: "POST", path: "/v3/chat/completions" },
    ...{ requestHeaders: {}, requestText: "{}", status: 200, answerHeaders: {}, answer: "{}", isAnswerCut: false },
    ...changes,
  };
}

async function open() {
  const { log, readLog } = openReadableLog("warn");
  const storage = await openStorage(await engine.createStore());
  const sealer = createSealer([Buffer.alloc(32, 1)]);
  const rules = createContentRules(100, null, log);
  const captures = createCaptures({ store: storage.captures, sealer, rules, isEnabled: true, retentionHours: 1, log });
  return { captures, storage, readLog };
}

test("of more requests than may wait, the first ones are captured, and the log says that others were not", async () => {
  const { captures, storage, readLog } = await open();
  for (let count = 0; count < 1_300; count++) captures.add(makeCaptured({ requestId: `request-${count}` }));
  await captures.close();
  expect((await captures.find("request-0", null)).items).toHaveLength(1);
  expect((await captures.find("request-999", null)).items).toHaveLength(1);
  expect((await captures.find("request-1200", null)).items).toEqual([]);
  expect(readLog()).toContain("captured requests could not be stored");
  await storage.close();
});

test("a store that does not answer is logged, and nothing is thrown", async () => {
  const { captures, storage, readLog } = await open();
  await storage.close();
  captures.add(makeCaptured());
  await captures.close();
  expect(readLog()).toContain("captured requests could not be stored");
});

test("old captures are deleted, and those that another key sealed are left out", async () => {
  const { captures, storage } = await open();
  captures.add(makeCaptured());
  captures.add(makeCaptured({ requestId: "new", time: Date.now() }));
  await captures.close();
  const others = createCaptures({
    ...{
      store: storage.captures,
      sealer: createSealer([Buffer.alloc(32, 2)]),
      rules: createContentRules(100, null, quiet),
    },
    ...{ isEnabled: false, retentionHours: 1, log: quiet },
  });
  expect(await others.find("new", null)).toMatchObject({ is_enabled: false, items: [] });
  expect(await captures.deleteOld(100)).toBe(1);
  expect((await captures.find("request", null)).items).toEqual([]);
  expect((await captures.find("new", null)).items).toHaveLength(1);
  await storage.close();
});

test("what was not sent or not answered is null, and not shown as cut", async () => {
  const { captures, storage } = await open();
  captures.add(makeCaptured({ requestText: null, answer: null }));
  await captures.close();
  const [found] = (await captures.find("request", null)).items;
  expect(found?.request).toMatchObject({ body: null, is_cut: false });
  expect(found?.answer).toMatchObject({ body: null, is_cut: false, text: null });
  await storage.close();
});

test("a text is cut above the limit, and where its end was never read, but not by leaving out an encoded file", async () => {
  const { captures, storage } = await open();
  const cases: readonly (readonly [requestText: string, isCut: boolean])[] = [
    ["a b ".repeat(25), false],
    [`${"a b ".repeat(25)}c`, true],
    [`"${"A".repeat(600)}"`, false],
    ["A".repeat(5_000), true],
  ];
  for (const [index, [text]] of cases.entries())
    captures.add(makeCaptured({ requestId: `request-${index}`, requestText: text, answer: text }));
  await captures.close();
  for (const [index, [, isCut]] of cases.entries()) {
    const [found] = (await captures.find(`request-${index}`, null)).items;
    expect([index, found?.request.is_cut, found?.answer.is_cut]).toEqual([index, isCut, isCut]);
    expect(found?.request.body?.length).toBeLessThanOrEqual(100);
  }
  await storage.close();
});

test("a stream shows the text of its parts, and that its end is missing", async () => {
  const { captures, storage } = await open();
  const parts = ["Hel", "lo"].map(
    (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
  );
  const answer = Buffer.from(`${parts.join("")}data: {"choices":[{"in`);
  captures.add(makeCaptured({ answer, isAnswerCut: true }));
  await captures.close();
  const [found] = (await captures.find("request", null)).items;
  expect(found?.answer).toMatchObject({ is_cut: true, text: "Hello" });
  await storage.close();
});

test("headers that hold secrets are redacted by their names, and others are shown", async () => {
  const { captures, storage } = await open();
  const secrets = ["authorization", "cookie", "x-api-key", "x-signature", "x-session-id", "x-password"];
  const headers = Object.fromEntries([...secrets, "idempotency-key", "accept"].map((name) => [name, "value"]));
  captures.add(makeCaptured({ requestHeaders: headers, answerHeaders: headers }));
  await captures.close();
  const [found] = (await captures.find("request", null)).items;
  for (const shown of [found?.request.headers, found?.answer.headers])
    expect(shown).toEqual({
      ...Object.fromEntries(secrets.map((name) => [name, "[redacted]"])),
      ...{ "idempotency-key": "value", accept: "value" },
    });
  await storage.close();
});
