// Receives an upload: a form whose part `file` is streamed to the disk, within limits of size and time. A failed upload leaves nothing
// behind. A file that only the current request needs is never stored.

import { type UploadFields, uploadFields } from "../contract/files.ts";
import { parse } from "../contract/problems.ts";
import { GatewayError, type Problem, throwProblems, ValidationError } from "../errors.ts";
import { findForbiddenKey } from "../lib/forbidden-key.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import { dayMs } from "../lib/time-units.ts";
import type { FileRecord } from "../storage/files.ts";
import { releaseBuffer } from "./byte-store.ts";
import type { FileDraft, FileStore } from "./file-store.ts";
import { MultipartParser, type PartHead, type PartSink, readBoundary } from "./multipart.ts";

export interface UploadsOptions {
  readonly store: FileStore;
  readonly ticker: Ticker;
  readonly maxFileBytes: number;
  /** Timeout between two chunks. */
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

export type Uploads = ReturnType<typeof createUploads>;

/** Fields of a form are text. A name that ends in `[]` has a list of values. */
export type FormFields = Readonly<Record<string, string | readonly string[]>>;

export interface TemporaryFile<Fields> {
  readonly fields: Fields;
  readonly name: string;
  /** Detected from the bytes; the type that the client states is ignored. */
  readonly mediaType: string;
  readonly size: number;
  read(): Promise<Uint8Array>;
  /** Deletes it from the disk. The receiver has to call this, also after an error. */
  delete(): Promise<void>;
}

// Size of a form without the file: boundaries, headers of parts, fields.
const overheadBytes = 131_072;
const maxFieldBytes = 16_384;
const longestName = 255;
const fieldNames: ReadonlySet<string> = new Set(Object.keys(uploadFields.shape));
const decoder = new TextDecoder("utf-8", { fatal: true });

export function createUploads({ store, ticker, maxFileBytes, idleTimeoutMs, totalTimeoutMs }: UploadsOptions) {
  /** `names`: the fields to read, null for all. `begin` runs before any byte of the body is read, `use` when the form is complete. */
  async function withForm<Result>(
    { headers, body }: Request,
    names: ReadonlySet<string> | null,
    use: (form: UploadForm) => Result | Promise<Result>,
    begin: (declaredBytes: number) => Promise<void> = async () => {},
  ): Promise<Result> {
    const boundary = checkHead(headers, maxFileBytes);
    const declared = Number(headers.get("content-length") ?? 0);
    await begin(declared);
    const form = new UploadForm(store, { maxFileBytes, declared, fieldNames: names });
    const parser = new MultipartParser(boundary, (head) => form.openPart(head));
    try {
      await forEachChunk(body, (chunk) => parser.push(chunk));
      parser.finish();
      return await use(form);
    } catch (error) {
      await form.discard();
      throw error;
    }
  }

  /** Reads within both timeouts and one chunk at a time, so that a slow disk causes backpressure. */
  async function forEachChunk(
    body: ReadableStream<Uint8Array> | null,
    take: (chunk: Uint8Array) => Promise<void>,
  ): Promise<void> {
    if (body === null) return;
    const reader = body.getReader();
    const endsAt = ticker.now + totalTimeoutMs;
    let idleUntil = ticker.now + idleTimeoutMs;
    let isLate = false;
    const watched: Watched = {
      index: -1,
      check(now) {
        if (now < Math.min(idleUntil, endsAt)) return;
        isLate = true;
        // Ends the wait for the next chunk. Promise.race would keep every chunk in memory until the end.
        reader.cancel().catch(() => {});
      },
    };
    ticker.watch(watched);
    let bytes = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read().catch(toIncompleteBody);
        if (isLate) throw tookTooLong();
        if (done) return;
        bytes += value.length;
        if (bytes > maxFileBytes + overheadBytes) throw tooLarge(maxFileBytes);
        // The idle timeout does not run while the disk is writing.
        idleUntil = Number.POSITIVE_INFINITY;
        await take(value);
        releaseBuffer(value);
        idleUntil = ticker.now + idleTimeoutMs;
      }
    } catch (error) {
      // The remaining bytes are not needed.
      reader.cancel().catch(() => {});
      throw error;
    } finally {
      ticker.forget(watched);
    }
  }

  return {
    receive: (request: Request, owner: string): Promise<FileRecord> =>
      withForm(
        request,
        fieldNames,
        (form) => form.commit(form.check(readUploadFields), owner),
        // The real size is checked again at the end.
        (declared) => store.refuseOverQuota(owner, Math.max(1, declared - overheadBytes)),
      ),

    /** A file that only this request needs. `readFields` throws a ValidationError for wrong fields. */
    receiveTemporary: <Fields>(request: Request, readFields: (fields: FormFields) => Fields) =>
      withForm(request, null, (form): TemporaryFile<Fields> => form.toTemporaryFile(form.check(readFields))),
  };
}

interface FormLimits {
  readonly maxFileBytes: number;
  /** The Content-Length of the request, or 0. */
  readonly declared: number;
  /** Other fields are skipped. Null: all fields are read. */
  readonly fieldNames: ReadonlySet<string> | null;
}

class UploadForm {
  readonly #store: FileStore;
  readonly #limits: FormLimits;
  readonly #fields = new Map<string, string | readonly string[]>();
  readonly #problems: Problem[] = [];
  #draft: FileDraft | null = null;
  #fileName = "";
  #files = 0;

  constructor(store: FileStore, limits: FormLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  async openPart(head: PartHead): Promise<PartSink> {
    if (head.name === "file") return await this.#openFile(head);
    const { fieldNames } = this.#limits;
    return fieldNames === null || fieldNames.has(head.name) ? this.#openField(head.name) : skip;
  }

  async #openFile({ fileName, mediaType }: PartHead): Promise<PartSink> {
    this.#files += 1;
    if (fileName === null && mediaType === null) {
      this.#refuse("file", "value_error", "Input should be a file, and is text");
      return skip;
    }
    if (this.#files > 1) {
      this.#refuse("file", "too_long", "One file can be uploaded at a time");
      return skip;
    }
    const { maxFileBytes, declared } = this.#limits;
    const draft = await this.#store.begin(Math.min(declared, maxFileBytes));
    this.#draft = draft;
    this.#fileName = fileName === "" ? "" : toPlainName(fileName ?? "");
    return {
      async write(bytes) {
        if (draft.size + bytes.length > maxFileBytes) throw tooLarge(maxFileBytes);
        await draft.write(bytes);
      },
      end() {},
    };
  }

  #openField(name: string): PartSink {
    const pieces: Buffer[] = [];
    let length = 0;
    return {
      write: (bytes) => {
        length += bytes.length;
        if (length <= maxFieldBytes) pieces.push(Buffer.from(bytes));
      },
      end: () => {
        if (length > maxFieldBytes)
          this.#refuse(name, "string_too_long", `String should have at most ${maxFieldBytes} characters`);
        else this.#addField(name, decodeText(Buffer.concat(pieces)));
      },
    };
  }

  #addField(name: string, text: string): void {
    const earlier = this.#fields.get(name) ?? [];
    this.#fields.set(name, name.endsWith("[]") ? [...earlier, text] : text);
  }

  /** Throws all problems at once. */
  check<Fields>(readFields: (fields: FormFields) => Fields): Fields {
    // A browser that sends a form without a chosen file sends a part without file name and content.
    const isUnchosen = this.#draft?.size === 0 && this.#fileName === "";
    if (this.#files === 0 || isUnchosen) this.#refuse("file", "missing", "Field required");
    else if (this.#draft?.size === 0) this.#refuse("file", "too_short", "The file is empty");
    let fields: Fields | undefined;
    try {
      fields = readFields(Object.fromEntries(this.#fields));
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      this.#problems.push(...error.problems);
    }
    throwProblems(this.#problems);
    return fields as Fields;
  }

  async commit(fields: UploadFields, owner: string): Promise<FileRecord> {
    if (this.#draft === null) throw new TypeError("there is no file to store");
    return await this.#draft.commit({
      owner,
      kind: "upload",
      name: this.#fileName || "file",
      mediaType: null,
      purpose: fields.purpose,
      metadata: fields.metadata,
      lifetimeMs: fields.expires_in_days * dayMs,
    });
  }

  toTemporaryFile<Fields>(fields: Fields): TemporaryFile<Fields> {
    const draft = this.#draft;
    if (draft === null) throw new TypeError("there is no file");
    const { mediaType, size } = draft;
    return { fields, name: this.#fileName || "file", mediaType, size, read: draft.read, delete: draft.discard };
  }

  async discard(): Promise<void> {
    await this.#draft?.discard();
  }

  #refuse(field: string, type: string, msg: string): void {
    this.#problems.push({ loc: ["body", field], msg, type });
  }
}

/** Parses `metadata`, which is JSON in a text field. */
function readUploadFields({ metadata = "{}", ...fields }: FormFields): UploadFields {
  const parsed = parseObject(String(metadata));
  const forbidden = findForbiddenKey(String(metadata), parsed);
  if (forbidden !== null)
    throw new ValidationError([
      { loc: ["body", "metadata", ...forbidden], msg: "Name is not permitted", type: "forbidden_key" },
    ]);
  if (parsed !== null) return parse(uploadFields, { ...fields, metadata: parsed });
  const problem = { loc: ["body", "metadata"], msg: "Input should be valid JSON", type: "json_invalid" };
  try {
    parse(uploadFields, fields);
  } catch (error) {
    throw error instanceof ValidationError ? new ValidationError([...error.problems, problem]) : error;
  }
  throw new ValidationError([problem]);
}

const skip: PartSink = { write: () => {}, end: () => {} };

function checkHead(headers: Headers, maxFileBytes: number): string {
  const declared = headers.get("content-length");
  if (declared !== null && Number(declared) > maxFileBytes + overheadBytes) throw tooLarge(maxFileBytes);
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity")
    throw new GatewayError("unsupported_content_encoding", "Send the body without content encoding.", {
      headers: { "accept-encoding": "identity" },
    });
  return readBoundary(headers.get("content-type"));
}

function toIncompleteBody(error: unknown): never {
  if (error instanceof GatewayError) throw error;
  throw new GatewayError("malformed_request", "The body ended before it was complete.", { cause: error });
}

function decodeText(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new GatewayError("invalid_utf8", "A field of the form is not valid UTF-8.");
  }
}

/** Null when it is not JSON. */
function parseObject(text: string): unknown {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return null;
  }
}

/** The last segment of a path, without control characters, at most as long as file systems allow. */
function toPlainName(fileName: string): string {
  const last = fileName.toWellFormed().split(/[/\\]/).at(-1) ?? "";
  // Control characters, and characters that reverse the direction of text: `exe.txt` must not be displayed as `txt.exe`.
  const shown = last.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/g, "").trim();
  const name = /^\.*$/.test(shown) ? "file" : shown;
  if (name.length <= longestName) return name;
  const [extension = ""] = /\.[^.]{1,16}$/.exec(name) ?? [];
  return name.slice(0, longestName - extension.length).toWellFormed() + extension;
}

function tooLarge(maxFileBytes: number): GatewayError {
  return new GatewayError("payload_too_large", `A file may have at most ${maxFileBytes} bytes.`, {
    param: "file",
    headers: { connection: "close" },
  });
}

function tookTooLong(): GatewayError {
  return new GatewayError("request_timeout", "The body took too long to arrive.", { headers: { connection: "close" } });
}
