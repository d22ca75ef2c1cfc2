import { expect, test } from "bun:test";
import { shareRuns } from "../../src/lib/share-runs.ts";

test("calls during a run share the next one, which begins after the running one", async () => {
  const runs: PromiseWithResolvers<void>[] = [];
  const run = shareRuns(() => {
    const one = Promise.withResolvers<void>();
    runs.push(one);
    return one.promise;
  });
  const first = run();
  const [second, third] = [run(), run()];
  expect(runs).toHaveLength(1);
  runs[0]?.reject(new Error("the store is down"));
  expect(String(await first.catch((error) => error))).toContain("the store is down");
  await Bun.sleep(0);
  expect(runs).toHaveLength(2);
  runs[1]?.resolve();
  await Promise.all([second, third]);
  const fourth = run();
  expect(runs).toHaveLength(3);
  runs[2]?.resolve();
  await fourth;
});
