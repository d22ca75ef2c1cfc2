// The provider rows are data. What the rest of the gateway relies on is checked here; a failure names the rows.

import { expect, test } from "bun:test";
import { providersPage } from "../../scripts/providers-page.ts";
import { rows } from "../../src/providers/index.ts";
import {
  type Access,
  findModelFacts,
  type ModelFacts,
  modelNamesOf,
  type ProviderRow,
} from "../../src/providers/provider.ts";
import { settingName } from "../../src/providers/settings.ts";

// A row with its own transport is answered in the process and has no address.
const dialled = rows.filter((row) => row.transport === undefined);
const settingPattern = /^[A-Z][A-Z0-9_]*$/;
const headerPattern = /^[a-z0-9-]+$/;

test("docs/providers.md lists the providers as they are: run scripts/providers-page.ts after a change", async () => {
  const page = await Bun.file(`${import.meta.dir}/../../docs/providers.md`).text();

  expect(page).toBe(providersPage(rows));
});

test("docs/providers.md names every setting that a vendor of tasks asks for", async () => {
  const page = await Bun.file(`${import.meta.dir}/../../docs/providers.md`).text();
  const settings = rows.flatMap(({ placeholders = {}, keyNames = [], tasks = [] }) => [
    ...Object.values(placeholders),
    ...keyNames,
    ...tasks.flatMap(({ requiredSettings = {} }) => Object.values(requiredSettings)),
  ]);

  expect(settings).toContain("SIGHTENGINE_API_USER");
  expect([...new Set(settings)].filter((setting) => !page.includes(`\`${setting}\``))).toEqual([]);
  expect(page).toMatch(/^\| `google` .*`ocr\/ocr_tables_async`: `GOOGLE_DOCUMENT_AI_FORM_PROCESSOR`/m);
  expect(page).toMatch(/^\| `amazon` .*`AWS_S3_BUCKET`/m);
});

test("every provider's folder is offered, under its own name", async () => {
  const folders = await Array.fromAsync(new Bun.Glob("*/index.ts").scan(`${import.meta.dir}/../../src/providers`));
  const names = new Set(rows.map(({ name }) => name));
  const others = folders.map((path) => path.split("/")[0] ?? "").filter((name) => !names.has(name));

  expect(others).toEqual(["dialects"]);
});

test("a provider's name is its own and can be the first part of a model's name", () => {
  const names = rows.map((row) => row.name);

  expect(repeated(names)).toEqual([]);
  expect(names.filter((name) => !/^[a-z0-9][a-z0-9-]*$/.test(name))).toEqual([]);
});

test("a key setting belongs to one provider, or to providers that share a name", () => {
  const byName = Map.groupBy(
    rows.flatMap((row) => keySettings(row).map((setting) => ({ setting, row }))),
    ({ setting }) => setting,
  );
  const isShared = (owners: readonly ProviderRow[]) =>
    owners.every((row) =>
      owners.every((other) => modelNamesOf(row).some((name) => modelNamesOf(other).includes(name))),
    );

  expect([...byName].filter(([, owners]) => !isShared(owners.map(({ row }) => row)))).toEqual([]);
  expect([...byName.keys()].filter((setting) => !settingPattern.test(setting))).toEqual([]);
});

test("an address is https, or http on loopback for a server that the operator runs, and ends without a slash", () => {
  const addresses = (row: ProviderRow) =>
    accessesOf(row).flatMap(({ baseUrl, services = {} }) => [
      ...(baseUrl === null ? [] : [baseUrl]),
      ...Object.values(services),
    ]);
  expect(namesOf(dialled, (row) => !addresses(row).every((address) => isFitAddress(address, row)))).toEqual([]);
});

test("every placeholder of an address has a setting, and nothing else has", () => {
  const written = ({ auth, baseUrl, services, headers, query, members }: Access) =>
    JSON.stringify([auth, baseUrl, services, headers, query, members]);
  const used = (access: Access) => [...new Set([...written(access).matchAll(/\{(\w+)\}/g)].map((match) => match[1]))];
  const stated = ({ placeholders = {}, derivedPlaceholders = {} }: Access) => [
    ...Object.keys(placeholders),
    // A derived one stands for those that it is made of.
    ...Object.keys(derivedPlaceholders),
  ];
  const settings = ({ placeholders = {} }: Access) => Object.values(placeholders);
  const isWrong = (access: Access) =>
    !Bun.deepEquals(used(access).toSorted(), stated(access).toSorted()) ||
    settings(access).some((setting) => !settingPattern.test(setting));

  expect(namesOf(dialled, (row) => accessesOf(row).some(isWrong))).toEqual([]);
});

test("a path starts with a slash and ends without one", () => {
  expect(namesOf(dialled, (row) => !/^\/[a-z0-9/_-]*[a-z0-9]$/.test(row.chat?.path ?? "/chat"))).toEqual([]);
});

test("header names are lower case", () => {
  const headers = (row: ProviderRow) => [
    ...Object.keys(row.headers ?? {}),
    ...(row.auth?.kind === "header" ? [row.auth.name] : []),
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

function accessesOf(row: ProviderRow): readonly Access[] {
  return row.modelAccess === undefined ? [row] : [row, row.modelAccess];
}

function modelsOf({ chat }: ProviderRow): readonly ModelFacts[] {
  return chat?.models ?? [];
}

function isFitAddress(address: string, row: ProviderRow): boolean {
  const url = new URL(address.replace("{host}", "host.example").replaceAll(/[{}]/g, ""));
  if (address.endsWith("/") || url.search !== "" || url.hash !== "" || url.username !== "") return false;
  if (row.auth?.kind === "optional-bearer") return url.protocol === "http:" && url.hostname === "127.0.0.1";
  return url.protocol === "https:" && url.hostname.includes(".");
}

function hasPossibleFacts({ contextTokens, maxOutputTokens, input }: ModelFacts): boolean {
  const limits = [contextTokens ?? 1, maxOutputTokens ?? 1];
  if (!limits.every((tokens) => Number.isSafeInteger(tokens) && tokens > 0)) return false;
  if (maxOutputTokens !== undefined && contextTokens !== undefined && maxOutputTokens > contextTokens) return false;
  return input === undefined || (input.includes("text") && repeated(input).length === 0);
}

function keySettings(row: ProviderRow): string[] {
  const names = [row.name, ...(row.modelAccess ? [row.modelAccess.name] : [])].map((name) =>
    settingName(name, "API_KEY"),
  );
  return [...names, ...accessesOf(row).flatMap(({ keyNames = [] }) => keyNames)];
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

test("a second name is no row of its own, and only google's models are at two providers", () => {
  const names = rows.map(({ name }) => name);
  const others = rows.flatMap((row) => modelNamesOf(row).slice(1));
  expect(repeated([...names, ...others])).toEqual(["google"]);
  expect(others.toSorted()).toEqual(["assemblyai", "azure", "bedrock", "gemini", "google", "vertex"]);
});
