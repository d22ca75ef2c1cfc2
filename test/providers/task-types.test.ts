// What the compiler finds in the definition of a provider's task: `npm run check` fails when one of the expected errors does not occur.

import { expect, test } from "bun:test";
import { tasks } from "../../src/contract/tasks.ts";
import { asList } from "../../src/providers/lenient.ts";
import { defineTask, type ProviderTask } from "../../src/providers/task.ts";

const docs = "https://vendor.example/docs";
const units = { request: 1 };

const moderate = defineTask("text/moderation", {
  docs,
  unsupported: ["language"],
  toRequest: ({ input }) => ({ path: "/", body: { kind: "json", value: { text: input.text.trim() } } }),
  fromResponse: async ({ json }) => ({
    output: {
      nsfw_likelihood: 1,
      items: asList(json).map((label) => ({ label, likelihood: 1 })),
      nsfw_likelihood_score: undefined,
    },
    units,
  }),
});

test("a task with known members compiles and is listed beside tasks of other types", async () => {
  const search = defineTask("text/search", {
    docs,
    toRequest: ({ input }) => ({ path: `/${input.similarity_metric}` }),
    fromResponse: () => ({ output: { items: [] }, units }),
  });
  const list: readonly ProviderTask[] = [moderate, search];
  expect(list.map(({ task }) => task)).toEqual(["text/moderation", "text/search"]);
});

test("every task of the catalogue has its types", () => {
  const names: readonly ProviderTask["task"][] = ["audio/tts", "image/generation"];
  expect(tasks.map(({ feature, subfeature }) => `${feature}/${subfeature}`)).toContainValues([...names]);
});

test("a misspelt task, input member or unsupported member does not compile", () => {
  const task = {
    // @ts-expect-error: the task is text/search
    wrongTask: defineTask("text/serach", { docs, toRequest: () => ({ path: "/" }), fromResponse: toSearch }),
    wrongInput: defineTask("text/search", {
      docs,
      // @ts-expect-error: the member is `query`
      toRequest: ({ input }) => ({ path: `/${input.qeury}` }),
      fromResponse: toSearch,
    }),
    wrongUnsupported: defineTask("text/search", {
      docs,
      // @ts-expect-error: the member is `similarity_metric`
      unsupported: ["similarity_metrics"],
      toRequest: () => ({ path: "/" }),
      fromResponse: toSearch,
    }),
  };
  expect(Object.keys(task)).toHaveLength(3);
});

function toSearch() {
  return { output: { items: [{ object: "search_result", document: 0, score: 1 }] }, units };
}

test("an output member that is misspelt, misplaced or of an unknown name does not compile", () => {
  const base = { docs, toRequest: () => ({ path: "/" }) } as const;
  const task = {
    // @ts-expect-error: the member is `items`
    atTheTop: defineTask("text/search", { ...base, fromResponse: () => ({ output: { itmes: [] }, units }) }),
    // @ts-expect-error: `score` belongs to an item
    misplaced: defineTask("text/search", { ...base, fromResponse: () => ({ output: { items: [], score: 1 }, units }) }),
    inAList: defineTask("text/search", {
      ...base,
      // @ts-expect-error: the member is `score`
      fromResponse: ({ json }) => ({ output: { items: asList(json).map((scroe) => ({ document: 0, scroe })) }, units }),
    }),
    fromAFunction: defineTask("text/search", {
      ...base,
      // @ts-expect-error: the member is `document`
      fromResponse: async () => ({ output: { items: [toItem()] }, units }),
    }),
    ofAnyName: defineTask("text/search", {
      ...base,
      // @ts-expect-error: the names of the members are not known
      fromResponse: ({ json }) => ({ output: { items: [json as Record<string, unknown>] }, units }),
    }),
  };
  expect(Object.keys(task)).toHaveLength(5);
});

function toItem() {
  return { object: "search_result", documents: 0, score: 1 };
}
