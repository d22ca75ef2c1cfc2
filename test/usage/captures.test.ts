// Captured requests wait for the store in bounded memory, and a store that fails costs captures, never requests.

import { afterAll, expect, test } from "bun:test";
import { createSealer } from "../../src/lib/seal.ts";
import { openStorage } from "../../src/storage/storage.ts";
import { createContentRules } from "../../src/tracing/content.ts";
import { type Captured, createCaptures } from "../../src/usage/captures.ts";
import { createFolders, quiet } from "../contracts/engines.ts";
import { openReadableLog } from "../support/readable-log.ts";

const folders = createFolders();
afterAll(() => folders.remove());

function makeCaptured(changes: Partial<Captured> = {}): Captured {
  return {
    ...{ requestId: "request", time: 1_000, keyId: "key", team: null, method: "POST", path: "/v3/chat/completions" },
    ...{ requestHeaders: {}, requestText: "{}", status: 200, answerHeaders: {}, answer: "{}", isAnswerCut: false },
    ...changes,
  };
}

async function open() {
  const { log, readLog } = openReadableLog("warn");
  const storage = await openStorage({ databaseUrl: null, dataDir: folders.create(), log: quiet, deadlineMs: 60_000 });
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
