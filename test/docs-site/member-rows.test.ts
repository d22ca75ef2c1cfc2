// The members of a schema as the API reference shows them, and the form with which an operation is tried. The schemas are invented.

import { describe, expect, test } from "bun:test";
import { type MemberRow, toMemberRows } from "../../src/docs-site/member-rows.ts";
import { renderMembers, toParameterRow } from "../../src/docs-site/member-table.ts";
import { renderTryIt } from "../../src/docs-site/try-it.ts";

const component = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" };

/** The row of a member that is not required. */
const rowOf = (schema: object) => toMemberRows({ properties: { a: schema } })[0] as MemberRow;

test.each([
  [text, "string"],
  [{ type: ["string", "null"] }, "string or null"],
  [{ type: "string", format: "date-time" }, "string (date-time)"],
  [{ anyOf: [text, { type: "integer" }, text] }, "string or integer"],
  [{ oneOf: [{ anyOf: [text] }, component("Part")] }, "string or Part"],
  [{ type: "array" }, "array"],
  [{ type: "array", items: { anyOf: [text, component("Part")] } }, "array of string or Part"],
  [{}, "any"],
])("the type of %j is %s", (schema, type) => expect(rowOf(schema).type).toBe(type));

test("a member names the component that it is, or of which it is a list", () => {
  expect(rowOf(component("Part")).component).toBe("Part");
  expect(rowOf({ anyOf: [text, { type: "array", items: component("Part") }] }).component).toBe("Part");
  expect(rowOf({ anyOf: [{ type: "null" }, text] }).component).toBeNull();
  expect(rowOf({ $ref: "https://elsewhere.example/Part" }).component).toBeNull();
});

test.each([
  [{ minimum: 0, maximum: 2 }, ["0 to 2"]],
  [{ minimum: 1 }, ["at least 1"]],
  [{ maxLength: 4_096 }, ["up to 4,096 characters"]],
  [{ minItems: 1, maxItems: 128 }, ["1 to 128 items"]],
  [{ enum: ["a", 5, null] }, ["one of `a`, `5`, `null`"]],
  [{ const: "a" }, ["only `a`"]],
  [{ default: "a" }, ['default `"a"`']],
  [{ default: false }, ["default `false`"]],
  [{ anyOf: [{ const: "a" }, { const: "b" }] }, ["one of `a`, `b`"]],
  [{}, []],
])("the limits of %j are %j", (schema, limits) => expect(rowOf(schema).limits).toEqual(limits));

test("a value that is required is always there", () => {
  const [row] = toMemberRows({ properties: { object: { const: "list" } }, required: ["object"] });
  expect(row).toMatchObject({ isRequired: true, limits: ["always `list`"] });
});

test("a member is required if every variant of its object requires it", () => {
  const variant = (members: object, required?: string[]) => ({ properties: members, ...(required && { required }) });
  const requiredOf = (...variants: object[]) =>
    Object.fromEntries(toMemberRows({ anyOf: variants }).map(({ path, isRequired }) => [path, isRequired]));
  const both = variant({ a: text, b: text }, ["a", "b"]);
  expect(requiredOf(both, variant({ a: text, b: text }, ["a"]))).toEqual({ a: true, b: false });
  expect(requiredOf(variant({ a: text, b: text }, ["a"]), both)).toEqual({ a: true, b: false });
  expect(requiredOf(both, variant({ a: text }, ["a"]))).toEqual({ a: true, b: false });
  expect(requiredOf(variant({ a: text }))).toEqual({ a: false });
});

test("members inside objects and lists have their path, at every depth", () => {
  const role = { type: "object", properties: { role: { ...text, description: "Who said it." } } };
  const [row] = toMemberRows({
    properties: { messages: { type: "array", items: { type: "object", properties: { author: role } } } },
  });
  expect(row?.inner.map(({ path, description }) => [path, description])).toEqual([
    ["messages[].author", ""],
    ["messages[].author.role", "Who said it."],
  ]);
});

describe("the table of members", () => {
  const row = rowOf(text);
  const render = (sender: "client" | "gateway", ...rows: MemberRow[]) =>
    renderMembers("Members", rows, { sender, toObject: (name) => `#${name}` }).text;

  test("says what a client has to send, and what an answer may lack", () => {
    expect(render("client", { ...row, isRequired: true })).toContain(">required<");
    expect(render("client", row)).not.toMatch(/>required<|>may be absent</);
    expect(render("gateway", row)).toContain(">may be absent<");
    expect(render("gateway", { ...row, isRequired: true })).not.toMatch(/>required<|>may be absent</);
  });

  test("links the first mention of a component, and keeps the rest of the type", () => {
    const several = { ...row, type: "Part or array of Part or null", component: "Part" };
    expect(render("client", several)).toContain('<a href="#Part">Part</a> or array of Part or null<');
    expect(render("client", { ...several, component: null })).toContain(">Part or array of Part or null<");
    expect(render("client", { ...several, component: "Other" })).not.toContain("<a ");
  });

  test("sets the name apart from the path before it, and folds what is inside", () => {
    const inner = { ...row, path: "a.b" };
    const shown = render("client", { ...row, limits: ["0 to 2", "default `1`"], inner: [inner] });
    expect(shown).toContain('<code><span class="parent">a.</span>b</code>');
    expect(shown).toContain("<summary>Inside <code>a</code></summary>");
    expect(shown).toContain("0 to 2; default <code>1</code>");
    expect(render("client", row)).not.toMatch(/<details|class="outer"|class="limits"/);
  });

  test("has parameters with their place, type and limits", () => {
    const parameter = {
      name: "limit",
      in: "query",
      required: false,
      schema: { type: "integer", maximum: 100 },
    } as const;
    expect(toParameterRow(parameter)).toMatchObject({
      ...{ path: "limit", type: "query, integer", isRequired: false, description: "", limits: ["up to 100"] },
    });
  });
});

describe("the form of an operation", () => {
  const operation = (described: object) =>
    renderTryIt(
      {
        ...{ id: "list", method: "GET", path: "/v3/things", summary: "List things" },
        described: { security: [], responses: {}, tags: [], operationId: "list", summary: "", ...described },
      } as unknown as Parameters<typeof renderTryIt>[0],
      (schema) => schema,
    ).text;
  const body = (type: string, media: object) => ({ requestBody: { content: { [type]: media } } });

  test("asks for the key that the operation needs", () => {
    expect(operation({})).not.toContain("data-key");
    expect(operation({ security: [{ inferenceKey: [] }] })).toMatch(/>Inference key <.*data-key="inferenceKey"/s);
    expect(operation({ security: [{ otherKey: [] }] })).toContain(">Key <");
  });

  test("has a field for each parameter but headers, and a choice where values are given", () => {
    const parameter = (name: string, place: string, schema: object, required = false) => ({
      ...{ name, in: place, schema, required },
    });
    const form = operation({
      parameters: [
        ...[parameter("id", "path", text, true), parameter("sort", "query", { enum: ["name", "cost"] })],
        parameter("x-trace", "header", text),
      ],
    });
    expect(form).toMatch(/<input id="list-path-id"[^>]* required>/);
    expect(form).toContain("path, required");
    expect(form).toContain('<option value=""></option><option>name</option><option>cost</option>');
    expect(form).not.toContain("x-trace");
  });

  test("has a text for JSON, and a field for each part of a form", () => {
    const json = operation(body("application/json", { schema: {}, example: { a: 1 } }));
    expect(json).toMatch(/<textarea[^>]* rows="3"[^>]*>\{\n {2}&quot;a&quot;: 1\n\}<\/textarea>/);
    expect(operation(body("application/json", { schema: {} }))).toMatch(/ data-body><\/textarea>/);
    const long = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [index, index]));
    expect(operation(body("application/json", { schema: {}, example: long }))).toContain('rows="14"');
    const properties = { file: { type: "string", format: "binary" }, purpose: text };
    const form = operation(body("multipart/form-data", { schema: { properties } }));
    expect(form).toContain('type="file" data-part="file"');
    expect(form).toContain('type="text" data-part="purpose"');
    expect(form).not.toContain("<textarea");
    expect(operation({})).not.toMatch(/<textarea|data-part/);
  });
});
