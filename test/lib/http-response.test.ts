// The head of an HTTP response, as providers, receivers and proxies may send it.

import { describe, expect, test } from "bun:test";
import { HeadReader, type ReadHead } from "../../src/lib/http-response.ts";

const read = (text: string, reader = new HeadReader()): ReadHead | null => reader.read(Buffer.from(text, "latin1"));

function headOf(text: string) {
  const found = read(text);
  if (found === null) throw new Error("the head is incomplete");
  return found.head;
}

describe("the length of the body", () => {
  test.each([
    ["200 OK\r\ncontent-length: 5", { kind: "length", length: 5 }],
    ["200 OK\r\nContent-Length: 5, 5", { kind: "length", length: 5 }],
    ["200 OK\r\ncontent-length: 5\r\ncontent-length: 5", { kind: "length", length: 5 }],
    ["200 OK\r\ntransfer-encoding: Chunked", { kind: "chunked" }],
    ["200 OK", { kind: "until-close" }],
    ["204 No Content\r\ncontent-length: 5", { kind: "length", length: 0 }],
    ["304 Not Modified\r\ntransfer-encoding: chunked", { kind: "length", length: 0 }],
    ["205", { kind: "until-close" }],
  ])("of %p is read", (head, framing) => {
    expect(headOf(`HTTP/1.1 ${head}\r\n\r\n`).framing as unknown).toEqual(framing);
  });

  test.each([
    ["content-length: 5\r\ncontent-length: 6", "its length is not a number"],
    ["content-length: -1", "its length is not a number"],
    ["content-length: 1234567890123456", "its length is not a number"],
    ["content-length:", "its length is not a number"],
    ["content-length: 5, x", "its length is not a number"],
    ["content-length: 5\r\ntransfer-encoding: chunked", "it has two lengths"],
    ["transfer-encoding: gzip, chunked", "its transfer encoding is not supported"],
  ])("is not read from %p", (headers, message) => {
    expect(() => read(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`)).toThrow(message);
  });
});

test.each([
  ["HTTP/1.1 200 OK\r\ncontent-length: 0", true],
  ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: Close", false],
  ["HTTP/1.0 200 OK\r\ncontent-length: 0", false],
  ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: Keep-Alive", true],
  ["HTTP/1.1 200 OK", false],
])("after %p the connection is used again: %p", (head, mayKeepConnection) => {
  expect(headOf(`${head}\r\n\r\n`).mayKeepConnection).toBe(mayKeepConnection);
});

test("headers are found by name, without the space around them, and repeated ones are joined", () => {
  const head = headOf("HTTP/1.1 200 OK\r\nX-A: \t one \t\r\nx-ab: other\r\nx-a:two\r\nempty:\r\n\r\n");
  expect(["x-a", "x-ab", "empty", "b"].map((name) => head.header(name))).toEqual(["one, two", "other", "", null]);
});

test.each([
  "HTTP/2 200 OK",
  "HTTP/1.2 200 OK",
  "HTTP/1.1 099 Low",
  "HTTP/1.1 2000 High",
  "HTTP/1.1  200 OK",
  "ICY 200 OK",
  "HTTP/1.1 200 OK\r\nname : value",
  "HTTP/1.1 200 OK\r\n folded: value",
  "HTTP/1.1 200 OK\r\nname: a\nb: c",
  "HTTP/1.1 200 OK\r\nname: a\0b",
  "HTTP/1.1 200 OK\r\nno colon",
])("%p is refused", (head) => {
  expect(() => read(`${head}\r\n\r\n`)).toThrow("it is not an HTTP response");
});

describe("interim responses", () => {
  const interim = "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n";
  const final = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody";

  test("are skipped, in however many pieces they arrive", () => {
    const whole = read(interim + final);
    expect([whole?.head.status, whole?.rest.toString()]).toEqual([200, "body"]);
    const reader = new HeadReader();
    const found = [...(interim + final)].map((character) => read(character, reader)).filter((head) => head !== null);
    expect(found.map(({ head }) => [head.status, head.header("link")])).toEqual([[200, null]]);
  });

  test("are limited in number for each response", () => {
    const reader = new HeadReader({ maxInterimResponses: 2 });
    for (let response = 0; response < 2; response += 1)
      expect(read(interim + interim + final, reader)?.rest.toString()).toBe("body");
    expect(() => read(interim + interim + interim, reader)).toThrow("it has too many interim responses");
  });

  test("do not switch the protocol", () => {
    expect(() => read("HTTP/1.1 101 Switching Protocols\r\n\r\n")).toThrow("it switches to another protocol");
  });
});

test("a head is read up to its limit", () => {
  const head = "HTTP/1.1 200 OK\r\na: b";
  const reader = () => new HeadReader({ maxHeadBytes: head.length });
  expect(read(`${head}\r\n\r\n`, reader())?.head.status).toBe(200);
  expect(() => read(`${head}c\r\n\r\n`, reader())).toThrow("its head is too long");
  expect(read(head, reader())).toBeNull();
  expect(() => read(`${head}c`, reader())).toThrow("its head is too long");
});
