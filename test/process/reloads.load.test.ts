// Reloads under load, half of them broken in every way.

import { expect, test } from "bun:test";
import { brokenReloads, startReloadedGateway, startReloadLoad } from "../support/reload-load.ts";
import { waitFor } from "../support/wait.ts";

// Each kind of broken reload once, and as many good ones. 200 reloads take about ten minutes: `TEST_RELOADS=200`.
const rounds = Number(process.env["TEST_RELOADS"] ?? 2 * brokenReloads.length) / 2;

test("reloads, half of them broken: no failed request, and never two configurations", async () => {
  await using started = await startReloadedGateway({ workers: 2, jobWorkers: 1 });
  const load = startReloadLoad(started, { kept: 6, fresh: 6 });
  await waitFor("the load to run", () => load.served() > 100);
  for (let round = 1; round <= rounds; round += 1) {
    const broken = brokenReloads[round % brokenReloads.length];
    const outcome = await broken?.run(started);
    expect({ name: broken?.name, ...outcome }).toMatchObject({ name: broken?.name, reloaded: false });
    expect(outcome?.reason).toMatch(broken?.says ?? /^$/);
    expect(await started.ask()).toBe(round);
    started.write(round + 1);
    expect(await started.reloadPatiently()).toMatchObject({ reloaded: true, reason: null });
    load.expectAtLeast(round + 1);
    expect(load.problems).toEqual([]);
  }
  await load.stop();
  expect(load.problems).toEqual([]);
  await waitFor("two serving processes and one worker process", async () => {
    const { serving, working } = await started.gateway.processes();
    return serving.length === 2 && working.length === 1;
  });
}, 1_200_000);
