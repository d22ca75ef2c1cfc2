// The provider rows are data. What the rest of the gateway relies on is checked here; a failure names the rows.

import { expect, test } from "bun:test";
import { providersPage } from "../../scripts/providers-page.ts";
import { vendorRows } from "../../src/engines/vendors/index.ts";
import { rows } from "../../src/providers/index.ts";
import { findModelFacts, type ModelFacts, type ProviderRow } from "../../src/providers/provider.ts";

// A row with its own transport is answered in the process and has no address.
const dialled = rows.filter((row) => row.transport === undefined);
const settingPattern = /^[A-Z][A-Z0-9_]*$/;
const headerPattern = /^[a-z0-9-]+$/;

test("docs/providers.md lists the providers as they are: run scripts/providers-page.ts after a change", async () => {
  const page = await Bun.file(`${import.meta.dir}/../../docs/providers.md`).text();

  expect(page).toBe(providersPage(rows, vendorRows));
});

test("docs/providers.md names every setting that a vendor of tasks asks for", async () => {
  const page = await Bun.file(`${import.meta.dir}/../../docs/providers.md`).text();
  const settings = vendorRows.flatMap(({ placeholders = {}, keyNames = [], tasks }) => [
    ...Object.values(placeholders),
    ...keyNames,
    ...tasks.flatMap(({ needs = {} }) => Object.values(needs)),
  ]);

  expect(settings).toContain("SIGHTENGINE_API_USER");
  expect([...new Set(settings)].filter((setting) => !page.includes(`\`${setting}\``))).toEqual([]);
  expect(page).toMatch(/^\| `google` .*`ocr\/ocr_async`: `GOOGLE_CLOUD_STORAGE_BUCKET`/m);
  expect(page).toMatch(/^\| `amazon` .*`AWS_S3_BUCKET`/m);
});

test("every file of rows/ is offered, under its own name", async () => {
  const files = await Array.fromAsync(new Bun.Glob("*.ts").scan(`${import.meta.dir}/../../src/providers/rows`));
  const names = rows.map((row) => row.name);

  expect(files.map((file) => file.slice(0, -".ts".length)).filter((name) => !names.includes(name))).toEqual([]);
});

test("a provider's name is its own and can be the first part of a model's name", () => {
  const names = rows.map((row) => row.name);

  expect(repeated(names)).toEqual([]);
  expect(names.filter((name) => !/^[a-z0-9][a-z0-9-]*$/.test(name))).toEqual([]);
});

test("a key setting belongs to one provider", () => {
  const settings = rows.flatMap(keySettings);

  expect(repeated(settings)).toEqual([]);
  expect(settings.filter((setting) => !settingPattern.test(setting))).toEqual([]);
});

test("an address is https, or http on loopback for a server that the operator runs, and ends without a slash", () => {
  expect(namesOf(dialled, (row) => row.baseUrl !== null && !isFitAddress(row.baseUrl, row))).toEqual([]);
});

test("every placeholder of an address has a setting, and nothing else has", () => {
  const placeholders = (row: ProviderRow) => [...(row.baseUrl ?? "").matchAll(/\{([^}]*)\}/g)].map((match) => match[1]);
  const derived = (row: ProviderRow) => Object.keys(row.derivedPlaceholders ?? {});
  const declared = (row: ProviderRow) => [...Object.keys(row.placeholders ?? {}), ...derived(row)];
  const settings = (row: ProviderRow) => Object.values(row.placeholders ?? {});

  expect(namesOf(dialled, (row) => !Bun.deepEquals(placeholders(row).toSorted(), declared(row).toSorted()))).toEqual(
    [],
  );
  expect(namesOf(dialled, (row) => settings(row).some((setting) => !settingPattern.test(setting)))).toEqual([]);
});

test("a path starts with a slash and ends without one", () => {
  expect(namesOf(dialled, (row) => !/^\/[a-z0-9/_-]*[a-z0-9]$/.test(row.chat?.path ?? "/chat"))).toEqual([]);
});

test("header names are lower case", () => {
  const headers = (row: ProviderRow) => [
    ...Object.keys(row.headers ?? {}),
    ...(row.auth.kind === "header" ? [row.auth.name] : []),
  ];

  expect(namesOf(rows, (row) => headers(row).some((header) => !headerPattern.test(header)))).toEqual([]);
});

test("every provider names the https page that its facts come from", () => {
  expect(namesOf(dialled, (row) => !/^https:\/\/[a-z0-9-]+\.[a-z0-9.-]+(\/\S*)?$/.test(row.docs))).toEqual([]);
});

test("a model is listed once, spelled without spaces", () => {
  expect(namesOf(rows, (row) => repeated(modelsOf(row).map((model) => model.id)).length > 0)).toEqual([]);
  expect(namesOf(rows, (row) => modelsOf(row).some((model) => !/^[^\s/]\S*$/.test(model.id)))).toEqual([]);
});

test("a model's limits and inputs are possible ones", () => {
  expect(namesOf(rows, (row) => !modelsOf(row).every(hasPossibleFacts))).toEqual([]);
});

function modelsOf({ chat }: ProviderRow): readonly ModelFacts[] {
  return chat?.models ?? [];
}

function isFitAddress(address: string, row: ProviderRow): boolean {
  const url = new URL(address.replace("{host}", "host.example").replaceAll(/[{}]/g, ""));
  if (address.endsWith("/") || url.search !== "" || url.hash !== "" || url.username !== "") return false;
  if (row.auth.kind === "optional-bearer") return url.protocol === "http:" && url.hostname === "127.0.0.1";
  return url.protocol === "https:" && url.hostname.includes(".");
}

function hasPossibleFacts({ contextTokens, maxOutputTokens, input }: ModelFacts): boolean {
  const limits = [contextTokens ?? 1, maxOutputTokens ?? 1];
  if (!limits.every((tokens) => Number.isSafeInteger(tokens) && tokens > 0)) return false;
  if (maxOutputTokens !== undefined && contextTokens !== undefined && maxOutputTokens > contextTokens) return false;
  return input === undefined || (input.includes("text") && repeated(input).length === 0);
}

function keySettings(row: ProviderRow): string[] {
  return [`${row.name.toUpperCase().replaceAll("-", "_")}_API_KEY`, ...(row.keyNames ?? [])];
}

function namesOf(rows: readonly ProviderRow[], isBad: (row: ProviderRow) => boolean): string[] {
  return rows.filter(isBad).map((row) => row.name);
}

function repeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

test("every row with chat models names a default among them, and one that reads images where it has such a model", () => {
  const withModels = dialled.filter((row) => modelsOf(row).length > 0);
  const readsImages = (row: ProviderRow, id = "") => findModelFacts(row, id)?.input?.includes("image") === true;
  expect(namesOf(withModels, (row) => findModelFacts(row, row.chat?.defaultModel ?? "") === null)).toEqual([]);
  const lacking = withModels.filter((row) => {
    const { defaultModel, defaultVisionModel, models = [] } = row.chat ?? {};
    return (
      models.some(({ id }) => readsImages(row, id)) &&
      ![defaultModel, defaultVisionModel].some((id) => readsImages(row, id))
    );
  });
  expect(lacking.map(({ name }) => name)).toEqual([]);
});

test("another name of a row is no row of its own", () => {
  const names = new Set(rows.map(({ name }) => name));
  const others = rows.flatMap(({ alsoNamed = [] }) => alsoNamed);
  expect(others.filter((name) => names.has(name))).toEqual([]);
  expect(new Set(others)).toEqual(new Set(["microsoft", "amazon", "google", "vertex"]));
});
