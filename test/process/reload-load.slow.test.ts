// A reload changes all processes or none, at one moment, without a failed request: what clients see under load.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { brokenReloads, type ReloadedGateway, startReloadedGateway, startReloadLoad } from "../support/reload-load.ts";
import { waitFor } from "../support/wait.ts";

let started: ReloadedGateway;
beforeAll(async () => {
  started = await startReloadedGateway({ workers: 2 });
}, 300_000);
afterAll(async () => {
  await started?.[Symbol.asyncDispose]();
}, 300_000);

test("a reload that fails leaves all processes as they are, and its answer says why", async () => {
  const { gateway, ask, reloadPatiently, write } = started;
  const load = startReloadLoad(started, { kept: 2, fresh: 2 });
  const before = (await gateway.processes()).serving;
  for (const { name, says, run } of brokenReloads) {
    const outcome = await run(started);
    expect({ name, ...outcome }).toMatchObject({ name, reloaded: false, configuration: { number: 1 } });
    expect(outcome.reason).toMatch(says);
    expect(await ask()).toBe(1);
  }
  await waitFor("the processes of failed reloads to end", async () => (await gateway.processes()).serving.length === 2);
  expect((await gateway.processes()).serving).toEqual(before);
  write(2);
  expect(await reloadPatiently()).toMatchObject({ reloaded: true });
  load.expectAtLeast(2);
  expect(await ask()).toBe(2);
  await load.stop();
  expect(load.problems).toEqual([]);
}, 300_000);

test("no answer of an older configuration follows one of a newer, and no request fails", async () => {
  const { write, reloadPatiently } = started;
  const load = startReloadLoad(started, { kept: 6, fresh: 6 });
  await waitFor("the load to run", () => load.served() > 100);
  for (const number of [3, 4]) {
    write(number);
    expect(await reloadPatiently()).toMatchObject({ reloaded: true, configuration: { file: started.file } });
    load.expectAtLeast(number);
    const served = load.served();
    await waitFor("the new processes to serve", () => load.served() > served + 50);
  }
  await load.stop();
  expect(load.problems).toEqual([]);
}, 300_000);
