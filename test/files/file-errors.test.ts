import { expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import { fileNotFound, toFileError } from "../../src/files/file-errors.ts";

const withCode = (code: unknown) => Object.assign(new Error("the disk failed"), { code });

test.each(["ENOSPC", "EDQUOT", "EFBIG"])("%s says that the storage is full, and when to try again", (code) => {
  const cause = withCode(code);
  expect(toFileError(cause)).toMatchObject({
    code: "dependency_unavailable",
    message: "The file storage is full.",
    details: { retryAfter: 60, cause },
  });
});

test.each(["EIO", "EACCES", "ENOENT"])("%s says that the file store does not respond", (code) => {
  const cause = withCode(code);
  const error = toFileError(cause);
  expect(error).toBeInstanceOf(GatewayError);
  expect(error).toMatchObject({ code: "dependency_unavailable", details: { cause } });
});

test("any other error stays what it is", () => {
  const others = [
    fileNotFound(),
    new Error("a defect"),
    withCode("ERR_INVALID_ARG_TYPE"),
    withCode(5),
    withCode("e"),
    "EIO",
    { code: "EIO" },
    null,
  ];
  expect(others.filter((error) => toFileError(error) !== error)).toEqual([]);
});
