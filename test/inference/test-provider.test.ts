import { expect, test } from "bun:test";
import { findTask } from "../../src/contract/tasks.ts";
import { testInputs } from "../../src/inference/test-provider.ts";
import { createInputCheck } from "../../src/inference/universal-ai/task-input.ts";
import { rows } from "../../src/providers/index.ts";
import { hasModels } from "../../src/providers/provider.ts";

test("the inputs with which providers are tested are valid inputs of their tasks", () => {
  const check = createInputCheck();
  for (const [name, input] of testInputs) {
    const task = findTask(name);
    expect(task.mode, name).toBe("sync");
    expect(() => check(task, input), name).not.toThrow();
  }
});

test("every provider that only performs tasks on texts has one of them", () => {
  const tested = new Set<string>(testInputs.map(([task]) => task));
  const untested = rows.filter((row) => !hasModels(row) && !(row.tasks ?? []).some(({ task }) => tested.has(task)));
  const features = untested.flatMap(({ tasks = [] }) => tasks.map(({ task }) => task.split("/")[0]));
  expect(
    [...new Set(features)].filter((feature) => !["ocr", "image", "video", "audio"].includes(feature ?? "")),
  ).toEqual([]);
});
