// What a caller is told when a file is not there, or cannot be kept.

import { GatewayError } from "../errors.ts";

/** Unknown, foreign, deleted or expired: one and the same answer. */
export function fileNotFound(): GatewayError {
  return new GatewayError("file_not_found", "There is no such file.", { param: "file_id" });
}

const fullDisk: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** A full or absent disk is the operator's matter, and passes; anything else stays what it is. */
export function toFileError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof GatewayError || !("code" in error)) return error;
  if (fullDisk.has(error.code)) return noRoom(error);
  if (typeof error.code !== "string" || !/^E[A-Z]+$/.test(error.code)) return error;
  return fileStoreUnavailable(error);
}

export function fileStoreUnavailable(cause: unknown): GatewayError {
  return new GatewayError("dependency_unavailable", "The file store does not answer as it should.", { cause });
}

/** The limit of one owner is reached. */
export function noOwnerRoom(maxOwnerBytes: number): GatewayError {
  return new GatewayError(
    "payload_too_large",
    `Your files, uploads and results of tasks, may have at most ${maxOwnerBytes} bytes together. Delete uploads, or wait until files expire.`,
    { param: "file", headers: { connection: "close" }, shouldRetry: false },
  );
}

export function noRoom(cause?: unknown): GatewayError {
  return new GatewayError("dependency_unavailable", "There is no room for more files at the moment.", {
    retryAfter: 60,
    cause,
  });
}
