// The time limits of the local engines, through a gateway whose limits are shorter than the loading of a model.

import { expect, test } from "bun:test";
import { tryExample } from "../../examples/try-all.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  jobWorkers: 1,
  env: {
    SWITCHYARD_LOCAL_WORKERS: "1",
    SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS: "100",
    SWITCHYARD_LOCAL_JOB_TIMEOUT_MS: "100",
  },
});
const key = await gateway.createKey();

test("a task over its time limit is answered with 504 in both forms, and SDKs do not repeat it", async () => {
  // Its dictionary alone takes longer to load.
  const request = { model: "text/spell_check/local", input: { text: "Teh cat.", language: "en" } };
  const response = await fetch(`${gateway.url}/v3/universal-ai`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  const message =
    "The local engine for text/spell_check exceeded its time limit of 0.1 s. Send a smaller input, or ask the operator to raise SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS.";
  expect(response.status).toBe(504);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toEqual({
    error: { message, type: "upstream_error", param: null, code: "provider_timeout" },
    detail: message,
  });
});

test("a job over its time limit fails with that reason, at the first run", async () => {
  const name = "ocr/receipt-as-job.json";
  const request = { model: "ocr/ocr_async/local", input: { file: "@receipt.jpg" } };
  const { output, message } = await tryExample({ url: gateway.url, key }, { name, request });
  expect(output).toBeNull();
  expect(message).toContain("exceeded its time limit of 0.1 s");
  const attempts = () =>
    gateway
      .log()
      .split("\n")
      .filter((line) => line.includes("ocr/ocr_async") && line.includes("attempt"));
  // The log is written in batches, a moment after the job has ended.
  await waitFor("the attempt in the log", () => attempts().length > 0);
  expect(attempts()).toHaveLength(1);
});
