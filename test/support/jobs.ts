// A client of the jobs API that repeats a request when the store was too busy to answer it, as the official clients do.

import { waitFor } from "./wait.ts";

interface JobsRequest {
  readonly method?: string;
  /** Below /v3/universal-ai/async. */
  readonly path?: string;
  readonly body?: unknown;
}

/** Repeats a 503: on a busy machine the store can miss its deadline. A job that is submitted again counts once more. */
export async function callJobs(
  url: string,
  key: string,
  { method = "GET", path = "", body }: JobsRequest = {},
): Promise<Response> {
  return await waitFor(
    `${method} ${path}`,
    async () => {
      const response = await fetch(`${url}/v3/universal-ai/async${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (response.status !== 503) return response;
      await response.arrayBuffer();
      return null;
    },
    { everyMs: 200 },
  );
}
