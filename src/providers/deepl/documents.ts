// A document is handed over, asked after until it is done, and fetched: once, then the vendor forgets it.

import { asNumber, asText, at } from "../lenient.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import { type FormPart, type ProviderTask, TaskFailure } from "../task.ts";
import { languagesOf } from "./languages.ts";

const shortestWaitMs = 500;
const longestWaitMs = 10_000;

export const translateDocument: ProviderTask = {
  task: "translation/document_translation",
  docs: "https://developers.deepl.com/api-reference/document",
  toRequest: async (call) => {
    const languages: FormPart[] = Object.entries(languagesOf(call)).map(([name, value]) => ({ name, value }));
    return {
      path: "/v2/document",
      body: { kind: "form", parts: [...languages, await filePart("file", fileOf(call))] },
    };
  },
  next(answer, _call, asked) {
    if (asked.path.endsWith("/result")) return null;
    const { json } = answer;
    const key = asText(at(json, "document_key"));
    if (key !== null) {
      const path = `/v2/document/${encodeURIComponent(String(at(json, "document_id")))}`;
      return { path, body: { kind: "json", value: { document_key: key } }, waitMs: shortestWaitMs };
    }
    const status = at(json, "status");
    if (status === "done") return { ...asked, path: `${asked.path}/result` };
    if (status !== "queued" && status !== "translating")
      throw new TaskFailure(400, asText(at(json, "error_message")) ?? "The document could not be translated");
    return { ...asked, waitMs: toWait(at(json, "seconds_remaining")) };
  },
  fromResponse(answer, call) {
    const mediaType = answer.mediaType || fileOf(call).mediaType;
    return {
      output: {},
      // Pages are what the price list counts, and nobody tells how many there were.
      units: { file: 1, request: 1 },
      binaries: [{ base64Path: ["file"], urlPath: ["document_resource_url"], bytes: answer.bytes, mediaType }],
      original: null,
    };
  },
};

/** The vendor's guess is often far too high: half of it, within bounds. */
function toWait(seconds: unknown): number {
  return Math.min(longestWaitMs, Math.max(shortestWaitMs, (asNumber(seconds) ?? 0) * 500));
}
