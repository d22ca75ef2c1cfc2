// Which errors of a driver mean that the store is away, so that a caller may try again, and which are a defect.

import { expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import { isOutage, isUnavailable, isValueError, toStorageError, toUnavailable } from "../../src/storage/outage.ts";

const failed = (members: { readonly code?: unknown; readonly errno?: unknown }) =>
  Object.assign(new Error("the statement failed"), members);

// SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
const states = ["08006", "40001", "40P01", "53300", "57014", "57P01", "58030", "25006"];
const codes = [
  ...["ERR_POSTGRES_CONNECTION_CLOSED", "ERR_POSTGRES_IDLE_TIMEOUT", "ERR_POSTGRES_LIFETIME_TIMEOUT"],
  ...["SQLITE_BUSY", "SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_CORRUPT"],
  ...["ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EPIPE", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"],
];

test.each([...states.map((errno) => ({ errno })), ...codes.map((code) => ({ code }))])("%j is an outage", (members) => {
  const error = failed({ code: "ERR_POSTGRES_SERVER_ERROR", ...members });
  expect(isOutage(error)).toBe(true);
  expect(toStorageError(error)).toMatchObject({
    code: "dependency_unavailable",
    details: { retryAfter: 1, cause: error },
  });
});

test.each([
  "28P01",
  "28000",
  "3D000",
  "42501",
  "55000",
  "55P03",
])("%s is answered as an outage, and a start does not wait for its end", (errno) => {
  const error = failed({ code: "ERR_POSTGRES_SERVER_ERROR", errno });
  expect(isOutage(error)).toBe(false);
  expect(isUnavailable(toStorageError(error))).toBe(true);
});

test("only errors about values, and those of our own code, are blamed on the values", () => {
  const sqlState = (errno: string) => failed({ code: "ERR_POSTGRES_SERVER_ERROR", errno });
  const values = [
    ...["22P05", "22003", "23502", "23505", "54000"].map(sqlState),
    ...["SQLITE_CONSTRAINT_NOTNULL", "SQLITE_TOOBIG", "SQLITE_MISMATCH"].map((code) => failed({ code })),
    ...[failed({ code: null }), new SyntaxError("JSON Parse error"), new TypeError("undefined is not an object")],
  ];
  const others = [
    ...["28P01", "42501", "42P01", "42703", "0A000", "55000", "XX000", "57014"].map(sqlState),
    ...["SQLITE_ERROR", "SQLITE_BUSY", "ERR_POSTGRES_CONNECTION_CLOSED", "ERR_POSTGRES_AUTHENTICATION_FAILED"].map(
      (code) => failed({ code }),
    ),
    toUnavailable(),
  ];
  expect(values.filter((error) => !isValueError(error))).toEqual([]);
  expect(others.filter(isValueError)).toEqual([]);
});

test("every other error stays what it is", () => {
  const others = [
    failed({ code: "ERR_POSTGRES_SERVER_ERROR", errno: "23505" }),
    failed({ code: "ERR_POSTGRES_SERVER_ERROR", errno: "42P01" }),
    failed({ code: "SQLITE_CONSTRAINT_UNIQUE", errno: 2067 }),
    failed({ code: 8, errno: 8006 }),
    failed({ errno: ["08006"] }),
    new Error("SQLITE_BUSY"),
    { code: "SQLITE_BUSY" },
    null,
    new GatewayError("file_not_found", "There is no such file."),
    toUnavailable(),
  ];
  expect(others.filter(isOutage)).toEqual([]);
  expect(others.filter((error) => toStorageError(error) !== error)).toEqual([]);
});

test("an answer that the store is away is recognised as such", () => {
  expect(isUnavailable(toUnavailable())).toBe(true);
  expect(isUnavailable(new GatewayError("file_not_found", "There is no such file."))).toBe(false);
  expect(isUnavailable(failed({ code: "dependency_unavailable" }))).toBe(false);
});
