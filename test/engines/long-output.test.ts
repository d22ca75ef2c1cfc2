// The output of an engine with tens of thousands of items: checked to the last one, while other requests are served.

import { expect, test } from "bun:test";
import { createCallLimits } from "../../src/access/call-limits.ts";
import { findTask } from "../../src/contract/tasks.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { GatewayError } from "../../src/errors.ts";
import { Trace } from "../../src/inference/trace.ts";
import { runOffer } from "../../src/inference/universal-ai/run-offer.ts";
import { anyCaller } from "../support/any-caller.ts";

const task = findTask("text/keyword_extraction");
if (task === undefined) throw new Error("there is no such task");

function offerOf(items: readonly unknown[]) {
  const engine: Engine = {
    provider: "test",
    task: "text/keyword_extraction",
    models: [],
    acceptsAnyModel: false,
    unavailableReason: null,
    run: async () => ({ output: { items }, original: null, units: {}, charge: { cost: 0, reason: null } }),
  };
  return {
    task: task as NonNullable<typeof task>,
    offer: { engine, model: null },
    call: {
      input: { text: "x" },
      files: {},
      providerParams: {},
      signal: new AbortController().signal,
      deadline: performance.now() + 60_000,
      requestId: "test",
      owner: "key:test",
    },
    caller: anyCaller,
    trace: new Trace(performance.now(), 0),
    callLimits: createCallLimits(),
    checkLedger: () => {},
    publish: async () => "",
    report: () => {},
    endedBy: () => null,
  };
}

const good = { keyword: "pool", importance: 0.5 };

test("the event loop turns many times while a long output is checked", async () => {
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const { output } = await runOffer(offerOf(Array.from({ length: 50_000 }, () => good)));
  isDone = true;
  expect(output["items"]).toHaveLength(50_000);
  // So that another request waits for about a millisecond, and not for the whole check.
  expect(turns).toBeGreaterThan(350);
});

test("an output that its process has checked is not checked again", async () => {
  const offer = offerOf([{ keyword: 5 }]);
  const { engine } = offer.offer;
  const checked: Engine = { ...engine, run: async (call) => ({ ...(await engine.run(call)), isChecked: true }) };
  const { output } = await runOffer({ ...offer, offer: { engine: checked, model: null } });
  expect(output["items"]).toHaveLength(1);
});

test.each([0, 124, 125, 49_999])("a wrong item at place %i of a long output is found", async (place) => {
  const items: unknown[] = Array.from({ length: 50_000 }, () => good);
  items[place] = { keyword: 5 };
  const failure = await runOffer(offerOf(items)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(GatewayError);
  expect((failure as GatewayError).code).toBe("provider_bad_response");
});
