// Opens the files that the input of a task names: uploads of the same owner, or addresses, which are fetched through egress.

import { type Caller, ownerOf } from "../../access/caller.ts";
import { findUrlTooLong } from "../../contract/media-urls.ts";
import type { Task } from "../../contract/tasks.ts";
import type { Downloads } from "../../egress/download-budget.ts";
import type { Egress } from "../../egress/egress.ts";
import { EgressError } from "../../egress/egress-error.ts";
import type { InputFile } from "../../engines/engine.ts";
import { throwProblems, ValidationError } from "../../errors.ts";
import { detectFileType } from "../../files/file-type.ts";
import { lookUp } from "../../lib/look-up.ts";
import { decodePercent } from "../../lib/percent-decoding.ts";
import type { FileMember } from "./task-input.ts";

export interface TaskFilesOptions {
  readonly egress: Egress;
  /** Null when this owner has no such upload. */
  readonly openUpload: (id: string, owner: string) => Promise<InputFile | null>;
  readonly maxFileBytes: number;
  /** Throws when the owner's file quota is used up. Called before a paid task whose results are files. */
  readonly refuseOverQuota?: (owner: string) => Promise<void>;
}

export interface FileFetching {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** False: no engine reads the files. Uploads still have to exist; addresses are not fetched. */
  readonly fetchesAddresses?: boolean;
}

interface CountedFetching extends FileFetching {
  readonly downloads: Downloads;
}

const uploadId = /^(?:file_)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;
const unknownType = "application/octet-stream";
const connectTimeoutMs = 10_000;
// A slow server must not hold a request for as long as a provider may.
const maxFetchMs = 30_000;
/** Media types with two names. */
const sameTypes: Readonly<Record<string, string>> = {
  "image/bmp": "image/x-ms-bmp",
  "image/x-ms-bmp": "image/bmp",
  "audio/wav": "audio/x-wav",
  "audio/x-wav": "audio/wav",
  "audio/mpeg": "audio/mp3",
  "audio/mp4": "audio/m4a",
};

/** Files that are held until the task is done. */
export interface OpenFiles extends Disposable {
  readonly files: Readonly<Record<string, InputFile>>;
}

/** The files from addresses count as downloads of the caller until the result is disposed of. */
export async function readFiles(
  task: Task,
  members: readonly FileMember[],
  options: TaskFilesOptions,
  fetching: FileFetching,
): Promise<OpenFiles> {
  const downloads = options.egress.openDownloads(fetching.caller.keyId);
  try {
    const files = await readAll(task, members, options, { ...fetching, downloads });
    return { files, [Symbol.dispose]: () => downloads[Symbol.dispose]() };
  } catch (error) {
    downloads[Symbol.dispose]();
    throw error;
  }
}

async function readAll(
  task: Task,
  members: readonly FileMember[],
  options: TaskFilesOptions,
  fetching: CountedFetching,
): Promise<Record<string, InputFile>> {
  const settled = await Promise.allSettled(
    members.map(async (member) => [member.name, await readFile(task, member, options, fetching)] as const),
  );
  const failures = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  const other = failures.find((failure) => !(failure instanceof ValidationError));
  if (other !== undefined) throw other;
  throwProblems(failures.flatMap((failure: ValidationError) => failure.problems));
  return Object.fromEntries(settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
}

/** Checks files without reading them: uploads have to exist, and addresses have to be valid. */
export async function checkFiles(
  members: readonly FileMember[],
  options: TaskFilesOptions,
  owner: string,
): Promise<void> {
  const problems = await Promise.all(
    members.map(async (member) => {
      const source = findSource(member);
      const isFound = "url" in source || (await options.openUpload(source.uploadId, owner)) !== null;
      return isFound ? [] : [fileNotFound(member).problems[0]];
    }),
  );
  throwProblems(problems.flat());
}

async function readFile(
  task: Task,
  member: FileMember,
  options: TaskFilesOptions,
  fetching: CountedFetching,
): Promise<InputFile> {
  const source = findSource(member);
  if ("url" in source && fetching.fetchesAddresses === false)
    return { name: nameOf(source.url), mediaType: unknownType, size: 0, read: async () => new Uint8Array() };
  const file =
    "url" in source
      ? await fetchFile(member, source.url, options, fetching)
      : await options.openUpload(source.uploadId, ownerOf(fetching.caller));
  if (file === null) throw fileNotFound(member);
  refuseOtherTypes(task, member, file);
  return file;
}

function findSource(member: FileMember): { readonly uploadId: string } | { readonly url: URL } {
  const [, id] = uploadId.exec(member.text) ?? [];
  if (id !== undefined) return { uploadId: id.toLowerCase() };
  const tooLong = findUrlTooLong(member.text);
  if (tooLong !== null) throw refused(member, tooLong.msg, tooLong.type);
  const url = URL.parse(member.text);
  if (url === null) throw refused(member, "Input should be the id of an upload, or an http(s) address", "url_parsing");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw refused(member, "URL scheme should be 'http' or 'https'", "url_scheme");
  return { url };
}

function fileNotFound(member: FileMember): ValidationError {
  return refused(member, "There is no such file", "file_not_found");
}

async function fetchFile(
  member: FileMember,
  url: URL,
  { egress, maxFileBytes }: TaskFilesOptions,
  { signal, timeoutMs, downloads }: CountedFetching,
): Promise<InputFile> {
  try {
    const { status, body, finalUrl } = await egress.fetch(member.text, {
      maxBytes: maxFileBytes,
      timeoutMs: Math.min(timeoutMs, maxFetchMs),
      connectTimeoutMs,
      protocols: ["https:", "http:"],
      redirects: 3,
      downloads,
      signal,
    });
    if (status !== 200) throw refused(member, `The server answered with status ${status}`, "url_fetch_failed");
    return {
      name: nameOf(URL.parse(finalUrl) ?? url),
      mediaType: detectFileType(body, true),
      size: body.length,
      read: async () => body,
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw refused(member, error.message, typeOf(error));
  }
}

function typeOf({ code }: EgressError): string {
  if (code === "url_not_allowed" || code === "redirect_refused") return "url_not_allowed";
  return code === "too_large" ? "file_too_large" : "url_fetch_failed";
}

function nameOf(url: URL): string {
  const name = url.pathname.split("/").at(-1) || "file";
  return decodePercent(name) ?? name;
}

function refuseOtherTypes({ allowedMediaTypes }: Task, member: FileMember, { mediaType, size }: InputFile): void {
  if (size === 0) throw refused(member, "The file is empty", "file_empty");
  const kind = `${mediaType.split("/")[0]}/*`;
  const names = [mediaType, kind, lookUp(sameTypes, mediaType) ?? mediaType];
  if (allowedMediaTypes === null || names.some((name) => allowedMediaTypes.includes(name))) return;
  const message = `The file is ${mediaType}, and should be one of ${allowedMediaTypes.join(", ")}`;
  throw refused(member, message, "file_type_not_allowed");
}

function refused({ loc }: FileMember, msg: string, type: string): ValidationError {
  return new ValidationError([{ loc, msg, type }]);
}
