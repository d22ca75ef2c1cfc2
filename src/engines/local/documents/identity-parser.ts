// ocr/identity_parser: reads passports, visas, identity cards, residence permits and driving licences: the machine-readable zone with its check
// digits, and the labelled fields of the visible zone. The two are compared. It does not check whether a document is genuine.

import type { TaskInput } from "../../../contract/tasks.ts";
import { fillMembers } from "../fill-members.ts";
import type { LocalCall } from "../local-engine.ts";
import { importPackage } from "../resolve-package.ts";
import type { AddDetails } from "./document-engine.ts";
import { drawPages } from "./document-reader.ts";
import { type IdentityPart, mergeParts, toPaper } from "./identity/paper.ts";
import { describeDocument } from "./identity/report.ts";
import { findIssuer, isAmerican } from "./identity/states.ts";
import { readVisibleValues } from "./identity/visible-values.ts";
import { findZone, type Zone } from "./identity/zone.ts";
import { createLocator } from "./locator.ts";
import { type Page, toText } from "./page.ts";
import type { Picture } from "./picture.ts";
import { getRecogniser } from "./read-picture.ts";
import { toRows } from "./rows.ts";

type Mrz = typeof import("mrz");

const task = "ocr/identity_parser";
const zoneCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<";
/** The country of specimens. */
const utopia = "UTO";
const maxPages = 4;

export async function loadIdentityParser() {
  const { states } = await importPackage<Mrz>("mrz");
  const isState = (code: string) => code === utopia || Object.hasOwn(states, code);
  return async (pages: readonly Page[], { files }: LocalCall<TaskInput<typeof task>>, addDetails: AddDetails) => {
    const hasScans = pages.some((page) => page.source === "scan");
    const pictures = hasScans ? await drawPages(files["file"], maxPages) : [];
    const today = new Date();
    const parts: IdentityPart[] = [];
    for (const [index, page] of pages.slice(0, maxPages).entries()) {
      const rows = toRows(page);
      const readings = [page.lines.map((line) => line.text), rows.map((row) => row.text)];
      const zone = findZone(readings, isState);
      const picture = page.source === "scan" && !isCertain(zone) ? pictures[index] : undefined;
      const again = picture === undefined ? null : (await readZoneText(picture, page)).split("\n");
      parts.push({
        zone: again === null ? zone : findZone([...readings, again], isState),
        visible: readVisibleValues(rows, today, isAmerican(rows)),
        issuer: findIssuer(rows),
        text: rows.map((row) => row.text).join("\n"),
      });
    }
    const papers = mergeParts(parts, today).flatMap((part) => {
      const paper = toPaper(part, states, today);
      return paper === null ? [] : [{ paper, part }];
    });
    const locator = createLocator(pages.slice(0, maxPages));
    addDetails({ documents: papers.map(({ part, paper }) => describeDocument(part, namesOfValues(paper), locator)) });
    return fillMembers(task, { extracted_data: papers.map(({ paper }) => paper) });
  };
}

/** Nothing was replaced, and all check digits are right. */
function isCertain(zone: Zone | null): boolean {
  return zone !== null && !zone.isRepaired && Object.values(zone.checks).every((isRight) => isRight);
}

/** Reads the page again with only the characters of the machine-readable zone allowed. */
async function readZoneText(picture: Picture, page: Page): Promise<string> {
  const recogniser = await getRecogniser();
  const degrees = page.turned?.degrees ?? 0;
  const options = { characters: zoneCharacters, isSingleBlock: true, degrees };
  return toText(recogniser.recognise(picture, ["eng"], options).page);
}

function namesOfValues(paper: Readonly<Record<string, unknown>>): Set<string> {
  const hasValue = (member: unknown) =>
    Array.isArray(member) ? member.length > 0 : (member as { value?: unknown } | null)?.value != null;
  return new Set(Object.keys(paper).filter((name) => hasValue(paper[name])));
}
