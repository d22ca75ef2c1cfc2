// What every engine promises about captured requests.

import { expect, test } from "bun:test";
import type { CaptureRecord } from "../../src/storage/captures.ts";
import { describeOn, type Engine, withStorage } from "./engines.ts";

function makeCapture(changes: Partial<CaptureRecord> = {}): CaptureRecord {
  return {
    ...{ id: Bun.randomUUIDv7(), requestId: "request", time: 1_000, keyId: "key", team: null },
    content: new Uint8Array([0, 1, 255]),
    ...changes,
  };
}

export function describeCaptureStore(engine: Engine): void {
  describeOn(engine, "captured requests", () => {
    test("what was captured of a request is found, newest first, by its team alone, until it is old", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const [old, red, blue] = [
          makeCapture({ time: 500 }),
          makeCapture({ time: 2_000, team: "red" }),
          makeCapture({ time: 3_000, team: "blue", content: new Uint8Array(200_000).fill(7) }),
        ];
        await storage.captures.insert([old, red, blue, makeCapture({ requestId: "another" })]);
        expect(await storage.captures.find("request", null, 10)).toEqual([blue, red, old]);
        expect(await storage.captures.find("request", null, 1)).toEqual([blue]);
        expect(await storage.captures.find("request", "red", 10)).toEqual([red]);
        expect(await storage.captures.find("request", "green", 10)).toEqual([]);
        expect(await storage.captures.deleteOld(2_000, 1)).toBe(1);
        expect(await storage.captures.find("request", null, 10)).toEqual([blue, red]);
        expect(await storage.captures.deleteOld(2_000, 10)).toBe(2);
        expect(await storage.captures.find("request", null, 10)).toEqual([blue]);
      });
    });
  });
}
