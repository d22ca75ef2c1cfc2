// The protocol that Google's services share.

import { expect, test } from "bun:test";
import { throwIfFailed } from "../../src/providers/google/google-json.ts";
import { TaskFailure } from "../../src/providers/task.ts";
import { thrownBy } from "../support/thrown.ts";

// Documented: https://cloud.google.com/apis/design/errors#handling_errors
test.each([
  [3, 400],
  [4, 504],
  [5, 404],
  [7, 403],
  [8, 429],
  [9, 400],
  [11, 400],
  [13, 500],
  [14, 503],
  [16, 401],
  [2, 502],
])("an error with code %d inside an answer has the status %d", (code, status) => {
  const thrown = thrownBy(() => throwIfFailed({ error: { code, message: "No." } }), TaskFailure);
  expect([thrown.status, thrown.message]).toEqual([status, "No."]);
});

test.each([{}, { error: null }, { error: { code: 0 } }])("%j is no error", (part) => {
  expect(() => throwIfFailed(part)).not.toThrow();
});
