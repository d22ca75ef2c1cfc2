// The groups of tesseract's languages: what `engines add ocr-deu` installs, and who is told to.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chooseLanguages, toTesseractLanguage } from "../../src/engines/local/documents/languages.ts";
import { listGroups } from "../../src/engines/local/groups.ts";
import { ValidationError } from "../../src/errors.ts";

const groups = listGroups().filter(({ name }) => name.startsWith("ocr-"));

test("more than a dozen languages can be added", () => {
  expect(groups.length).toBeGreaterThan(12);
  expect(groups.map(({ name }) => name)).toContain("ocr-ukr");
});

test.each(
  groups.map((group) => [group.name, group] as const),
)("%s keeps one file of one package, whose version and checksum are fixed", (name, { folder, dependencies, keep }) => {
  const language = name.slice("ocr-".length);
  const data = `@tesseract.js-data/${language}`;
  const file = `4.0.0_best_int/${language}.traineddata.gz`;
  expect(dependencies).toEqual({ [data]: "1.0.0" });
  expect(keep).toEqual({ [data]: [file] });
  const checksums = JSON.parse(readFileSync(join(folder, "checksums.json"), "utf8"));
  expect(checksums).toEqual({ [`${data}/${file}`]: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  expect(packages[`node_modules/${data}`]).toMatchObject({
    version: "1.0.0",
    integrity: expect.stringMatching(/^sha512-/),
  });
  expect(packages[`node_modules/${data}`]).not.toHaveProperty("resolved");
});

test.each([
  ["de-AT", "deu"],
  ["uk", "ukr"],
  ["zh-Hant", "chi_tra"],
  ["el", "ell"],
])("the language %s is read with the data of %s", (tag, name) => {
  expect(toTesseractLanguage(tag)).toBe(name);
  expect(groups.map((group) => group.name)).toContain(`ocr-${name}`);
});

test("a language that is not installed is refused with the command that installs it", () => {
  let refusal: unknown;
  try {
    chooseLanguages("th");
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(ValidationError);
  expect((refusal as ValidationError).problems[0]).toMatchObject({
    loc: ["body", "input", "language"],
    msg: expect.stringContaining("npx switchyard-gateway engines add ocr-tha"),
  });
  expect(() => chooseLanguages("pl")).toThrow(
    "`npx switchyard-gateway engines add ocr` or `npx switchyard-gateway engines add ocr-pol` installs it. Installed: eng.",
  );
  expect(chooseLanguages(null)).toEqual(["eng"]);
});
