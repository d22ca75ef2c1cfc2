// Opens the files that the input of a task names: uploads of the same owner, or addresses, which are fetched through egress.

import { findUrlTooLong } from "../../contract/media-urls.ts";
import type { Task } from "../../contract/tasks.ts";
import type { Egress } from "../../egress/egress.ts";
import { EgressError } from "../../egress/egress-error.ts";
import type { InputFile } from "../../engines/engine.ts";
import { throwProblems, ValidationError } from "../../errors.ts";
import { detectFileType } from "../../files/file-type.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { FilePlace } from "./task-input.ts";

export interface TaskFilesOptions {
  readonly egress: Egress;
  /** Null when this owner has no such upload. */
  readonly openUpload: (id: string, owner: string) => Promise<InputFile | null>;
  readonly maxFileBytes: number;
  /** Throws when the owner's file quota is used up. Called before a paid task whose results are files. */
  readonly refuseOverQuota?: (owner: string) => Promise<void>;
}

export interface FileFetching {
  readonly owner: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** False: no engine reads the files. Uploads still have to exist; addresses are not fetched. */
  readonly fetchesAddresses?: boolean;
}

const uploadId = /^(?:file_)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;
const unknownType = "application/octet-stream";
const mostRedirects = 3;
const connectTimeoutMs = 10_000;
// A slow server must not hold a request for as long as a provider may.
const longestFetchMs = 30_000;
/** Media types with two names. */
const sameTypes: Readonly<Record<string, string>> = {
  "image/bmp": "image/x-ms-bmp",
  "image/x-ms-bmp": "image/bmp",
  "audio/wav": "audio/x-wav",
  "audio/x-wav": "audio/wav",
  "audio/mpeg": "audio/mp3",
  "audio/mp4": "audio/m4a",
};

export async function readFiles(
  task: Task,
  places: readonly FilePlace[],
  options: TaskFilesOptions,
  fetching: FileFetching,
): Promise<Record<string, InputFile>> {
  const settled = await Promise.allSettled(
    places.map(async (place) => {
      const file = await readFile(task, place, options, fetching);
      return [place.name, file] as const;
    }),
  );
  const failures = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  const other = failures.find((failure) => !(failure instanceof ValidationError));
  if (other !== undefined) throw other;
  throwProblems(failures.flatMap((failure: ValidationError) => failure.problems));
  return Object.fromEntries(settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
}

/** Checks files without reading them: uploads have to exist, and addresses have to be valid. */
export async function checkFiles(
  places: readonly FilePlace[],
  options: TaskFilesOptions,
  owner: string,
): Promise<void> {
  const problems = await Promise.all(
    places.map(async (place) => {
      const found = findSource(place);
      if ("url" in found) return [];
      const upload = await options.openUpload(found.uploadId, owner);
      return upload === null ? [fileNotFound(place).problems[0]] : [];
    }),
  );
  throwProblems(problems.flat());
}

async function readFile(
  task: Task,
  place: FilePlace,
  options: TaskFilesOptions,
  fetching: FileFetching,
): Promise<InputFile> {
  const source = findSource(place);
  if ("url" in source && fetching.fetchesAddresses === false) return unreadFile(source.url);
  const file =
    "url" in source
      ? await fetchFile(place, source.url, options, fetching)
      : await options.openUpload(source.uploadId, fetching.owner);
  if (file === null) throw fileNotFound(place);
  refuseOtherTypes(task, place, file);
  return file;
}

/** Finds problems of an address without fetching it. */
function unreadFile(url: URL): InputFile {
  return { name: nameOf(url), mediaType: unknownType, size: 0, read: async () => new Uint8Array() };
}

function findSource(place: FilePlace): { readonly uploadId: string } | { readonly url: URL } {
  const [, id] = uploadId.exec(place.text) ?? [];
  if (id !== undefined) return { uploadId: id.toLowerCase() };
  const tooLong = findUrlTooLong(place.text);
  if (tooLong !== null) throw refused(place, tooLong.msg, tooLong.type);
  const url = URL.parse(place.text);
  if (url === null) throw refused(place, "Input should be the id of an upload, or an http(s) address", "url_parsing");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw refused(place, "URL scheme should be 'http' or 'https'", "url_scheme");
  return { url };
}

function fileNotFound(place: FilePlace): ValidationError {
  return refused(place, "There is no such file", "file_not_found");
}

async function fetchFile(
  place: FilePlace,
  url: URL,
  { egress, maxFileBytes }: TaskFilesOptions,
  { signal, timeoutMs }: FileFetching,
): Promise<InputFile> {
  try {
    const { status, body, finalUrl } = await egress.fetch(place.text, {
      maxBytes: maxFileBytes,
      timeoutMs: Math.min(timeoutMs, longestFetchMs),
      connectTimeoutMs,
      protocols: ["https:", "http:"],
      redirects: mostRedirects,
      signal,
    });
    if (status !== 200) throw refused(place, `The server answered with status ${status}`, "url_fetch_failed");
    return {
      name: nameOf(URL.parse(finalUrl) ?? url),
      mediaType: detectFileType(body, true),
      size: body.length,
      read: async () => body,
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw refused(place, error.message, typeOf(error));
  }
}

function typeOf({ code }: EgressError): string {
  if (code === "url_not_allowed" || code === "redirect_refused") return "url_not_allowed";
  return code === "too_large" ? "file_too_large" : "url_fetch_failed";
}

function nameOf(url: URL): string {
  return decodeURIComponentSafely(url.pathname.split("/").at(-1) ?? "") || "file";
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refuseOtherTypes({ allowedMediaTypes }: Task, place: FilePlace, { mediaType, size }: InputFile): void {
  if (size === 0) throw refused(place, "The file is empty", "file_empty");
  const kind = `${mediaType.split("/")[0]}/*`;
  const names = [mediaType, kind, lookUp(sameTypes, mediaType) ?? mediaType];
  if (allowedMediaTypes === null || names.some((name) => allowedMediaTypes.includes(name))) return;
  throw refused(
    place,
    `The file is ${mediaType}, and should be one of ${allowedMediaTypes.join(", ")}`,
    "file_type_not_allowed",
  );
}

function refused({ loc }: FilePlace, msg: string, type: string): ValidationError {
  return new ValidationError([{ loc, msg, type }]);
}
