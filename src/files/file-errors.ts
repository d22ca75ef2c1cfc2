// Errors of the file store.

import { GatewayError } from "../errors.ts";

/** The same answer for an unknown, foreign, deleted or expired file. */
export function fileNotFound(): GatewayError {
  return new GatewayError("file_not_found", "There is no such file.", { param: "file_id" });
}

const fullDisk: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** A full or unavailable disk becomes an error that a caller may retry; other errors are returned unchanged. */
export function toFileError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof GatewayError || !("code" in error)) return error;
  if (fullDisk.has(error.code)) return storageFull(error);
  if (typeof error.code !== "string" || !/^E[A-Z]+$/.test(error.code)) return error;
  return fileStoreUnavailable(error);
}

export function fileStoreUnavailable(cause: unknown): GatewayError {
  return new GatewayError("dependency_unavailable", "The file store does not respond correctly.", { cause });
}

export function quotaExceeded(maxOwnerBytes: number): GatewayError {
  return new GatewayError(
    "payload_too_large",
    `The storage quota of ${maxOwnerBytes} bytes for your uploads and results of tasks is used up. Delete uploads, or wait until files expire.`,
    { param: "file", headers: { connection: "close" }, shouldRetry: false },
  );
}

export function storageFull(cause?: unknown): GatewayError {
  return new GatewayError("dependency_unavailable", "The file storage is full.", {
    retryAfter: 60,
    cause,
  });
}
