// Every task in the task playground, run with the sandbox: its form is accepted as it stands, and its result is drawn.

import { expect, test } from "bun:test";
import { tasks } from "../../src/contract/tasks.ts";
import { sharedBrowser } from "../support/browser.ts";
import { checkAppearances, openDashboard, problemsOf, visit } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway({ jobWorkers: 1, env: { SWITCHYARD_LOCAL_WORKERS: "1" } });
const browser = await sharedBrowser();
const opened = await openDashboard(browser, gateway, "/playground/tasks");
const { page } = opened;

const features = [...new Set(tasks.map(({ feature }) => feature))];
for (const feature of features)
  test(`every task of ${feature} has a form, and its example shows a result, accessible, at 1440 and 390 pixels`, async () => {
    for (const { name } of tasks.filter((task) => task.feature === feature)) {
      await visit(opened, `/playground/tasks?task=${name}/sandbox`);
      await page.locator(`[data-task="${name}"]`).waitFor();
      expect(await page.locator(".task-form").locator("input, textarea").count(), name).toBeGreaterThan(0);
      // A collection of faces has to exist first.
      if (name === "image/face_recognition") continue;
      const recording = page.getByRole("button", { name: /^Sample (?:recording|clip)$/ });
      if ((await recording.count()) > 0) await recording.click();
      const needsFile = (await page.locator("input[type=file]").count()) > 0 && !name.includes("generation");
      if (needsFile) await page.locator(".file-chosen").first().waitFor();
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.locator(".run-facts").waitFor();
      expect(await page.getByText("cannot be drawn").count(), name).toBe(0);
      expect(await page.getByRole("alert").count(), name).toBe(0);
      await checkAppearances(opened, "#content");
    }
    expect(problemsOf(opened)).toEqual([]);
  });
