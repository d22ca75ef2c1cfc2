// What a form for the credentials of a provider asks for, from the row of the provider.

import { expect, test } from "bun:test";
import { rows } from "../../src/providers/index.ts";
import { describeAccess } from "../../src/providers/settings.ts";

function accessOf(name: string) {
  const row = rows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`there is no provider ${name}`);
  return describeAccess(row);
}

test("a key is required, optional or unknown to the provider", () => {
  expect(accessOf("openai")).toMatchObject({ key: "required", variables: ["OPENAI_API_KEY"], settings: [] });
  expect(accessOf("ollama").key).toBe("optional");
  expect(accessOf("sandbox").key).toBe("none");
  // Models take a key, and tasks are signed with the other settings.
  expect(accessOf("amazon")).toMatchObject({ key: "optional" });
});

test("settings say which of them are secret", () => {
  const { settings } = accessOf("amazon");
  const isSecret = new Map(settings.map(({ name, is_secret }) => [name, is_secret]));
  expect(isSecret.get("AWS_SECRET_ACCESS_KEY")).toBe(true);
  expect(isSecret.get("AWS_SESSION_TOKEN")).toBe(true);
  expect(isSecret.get("AWS_REGION")).toBe(false);
});

test("every provider has a page to read about it, and a variable for its key", () => {
  for (const row of rows.filter(({ isSandbox }) => isSandbox !== true)) {
    const { docs, variables } = describeAccess(row);
    expect(docs, row.name).toStartWith("https://");
    expect(variables.length, row.name).toBeGreaterThan(0);
  }
});
