// Says that something failed for which the page has no place of its own, such as an item of a menu.

import { notifications } from "@mantine/notifications";
import { ApiError, sessionChanged } from "../api/client.ts";

/** `title`: what was not done. */
export function notifyError(title: string, error: unknown): void {
  // The page of the other person says so.
  if (error instanceof ApiError && error.code === sessionChanged) return;
  // It stays until it is closed: the id of the request may be needed.
  notifications.show({ color: "red", title, message: describe(error), autoClose: false });
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof ApiError && error.requestId !== null
    ? `${error.message} (request ${error.requestId})`
    : error.message;
}
