// Turns operations into an OpenAPI 3.1 document. Pure: the same operations give the same document.

import { z } from "zod";
import { type ErrorCode, errorCatalogue } from "../../errors.ts";
import { memberDescriptions } from "./descriptions.ts";
import { errorMeanings } from "./error-answers.ts";
import type { Operation, OperationResponse, Parameter, ResponseHeader, Tag } from "./operation.ts";
import { errorSchemas, namedSchemas } from "./operations.ts";

export interface SchemaObject {
  readonly [keyword: string]: unknown;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>> & { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: Tag; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<string, unknown>> & { readonly schemas: Readonly<Record<string, SchemaObject>> };
}

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly Tag[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: SchemaObject;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, SchemaObject>>;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: SchemaObject }>>;
type Direction = "input" | "output";
type NamedSchemas = Readonly<Record<string, z.ZodType>>;

/** The version of the interface, not of this package. */
const interfaceVersion = "3.0.0";
const schemaPath = "#/components/schemas/";

export const tagDescriptions: Readonly<Record<Tag, string>> = {
  Chat: "Chat with every model of every configured provider, in the OpenAI chat format.",
  Responses: "Stateful conversations, kept by the provider, by the gateway, or not at all.",
  Embeddings: "Texts as vectors, in the OpenAI format.",
  Files: "Files to be named in later requests, and what tasks produced.",
  Models: "Which models can be called, and what is known of them.",
  Jobs: "Tasks that are done later, and the webhooks that tell of them.",
  Tasks: "Which specialised tasks exist, who serves them, their schemas and prices.",
  Keys: "Create, limit, rotate and revoke the keys of this gateway.",
  Providers: "Which providers are set up, and how they are doing.",
  Service: "The interface itself, and the state of the process that serves it.",
};

const headers: Readonly<Record<string, { description: string; schema: SchemaObject }>> = {
  "x-request-id": { description: "Names this request in the gateway's log.", schema: { type: "string" } },
  etag: { description: "Strong tag over the bytes, for `If-None-Match`.", schema: { type: "string" } },
  "cache-control": { description: "Whether and how the answer may be kept.", schema: { type: "string" } },
  "www-authenticate": { description: "Always `Bearer`.", schema: { type: "string", const: "Bearer" } },
  "retry-after": { description: "Seconds to wait before the next attempt.", schema: { type: "integer", minimum: 0 } },
};

const errorHeaders: Readonly<Record<number, string>> = {
  401: "www-authenticate",
  429: "retry-after",
  503: "retry-after",
};

export function buildOpenApi(operations: readonly Operation[], named: NamedSchemas = namedSchemas): OpenApiDocument {
  const components = createComponents(named);
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operation of operations) {
    const path = toOpenApiPath(operation.path);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: toOperationObject(operation, components) };
  }
  const used = new Set(operations.map((operation) => operation.tag));
  return {
    openapi: "3.1.0",
    info: {
      title: "Switchyard",
      version: interfaceVersion,
      summary: "One address and one key in front of every AI provider.",
      description:
        "An open, self-hosted AI model gateway. Chat completions follow the OpenAI format, so clients built for it work " +
        "unchanged. Every error carries both the OpenAI form (`error`) and the FastAPI form (`detail`).",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: (Object.keys(tagDescriptions) as Tag[])
      .filter((name) => used.has(name))
      .map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    components: {
      schemas: components.schemas(),
      headers,
      securitySchemes: {
        inferenceKey: { type: "http", scheme: "bearer", description: "An inference key, `sk-sy-…`." },
        managementKey: { type: "http", scheme: "bearer", description: "A management key, `mgmt-sy-…`." },
      },
    },
  };
}

/** The route table's `{id...}` takes the rest of a path; OpenAPI has no such thing, so its description says so. */
export function toOpenApiPath(path: string): string {
  return path.replace("...}", "}");
}

function toOperationObject(operation: Operation, components: Components): OperationObject {
  const { request, parameters } = operation;
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    tags: [operation.tag],
    security: operation.key === "none" ? [] : [{ [`${operation.key}Key`]: [] }],
    ...(parameters !== undefined && { parameters: parameters.map(toParameterObject) }),
    ...(request !== undefined && {
      requestBody: {
        required: true,
        content: { [operation.requestType ?? "application/json"]: { schema: components.toSchema(request, "input") } },
      },
    }),
    responses: {
      ...toResponses(operation.responses, components),
      ...toErrorResponses(operation, components),
    },
  };
}

function toParameterObject({ name, in: place, description, schema }: Parameter): ParameterObject {
  return {
    name,
    in: place,
    required: place === "path",
    description,
    schema: tidy(z.toJSONSchema(schema, { io: "input" }), "input"),
  };
}

function toResponses(
  responses: readonly OperationResponse[],
  components: Components,
): Readonly<Record<string, ResponseObject>> {
  const byStatus: Record<string, ResponseObject> = {};
  for (const response of responses) {
    const earlier = byStatus[response.status];
    const content = { ...earlier?.content, ...toContent(response, components) };
    byStatus[response.status] = {
      description: earlier === undefined ? response.description : `${earlier.description} ${response.description}`,
      headers: { ...earlier?.headers, ...toHeaders(["x-request-id", ...(response.headers ?? [])]) },
      ...(Object.keys(content).length > 0 && { content }),
    };
  }
  return byStatus;
}

function toContent({ schema, contentType }: OperationResponse, components: Components): Content {
  if (schema !== undefined) {
    return { [contentType ?? "application/json"]: { schema: components.toSchema(schema, "output") } };
  }
  return contentType === undefined ? {} : { [contentType]: { schema: { type: "string" } } };
}

function toErrorResponses(operation: Operation, components: Components): Record<string, ResponseObject> {
  const byStatus: Record<string, ResponseObject> = {};
  const { errors, errorSchema, toErrorStatus } = operation;
  for (const [status, grouped] of groupByStatus(errors, toErrorStatus)) {
    const schema = errorSchema ?? (status === 422 ? errorSchemas.validation : errorSchemas.plain);
    const header = errorHeaders[status];
    byStatus[status] = {
      description: grouped.map((code) => `\`${code}\`: ${errorMeanings[code]}`).join("\n\n"),
      headers: toHeaders(header === undefined ? ["x-request-id"] : ["x-request-id", header]),
      content: { "application/json": { schema: components.toSchema(schema, "output") } },
    };
  }
  return byStatus;
}

/** In the order of the statuses. */
export function groupByStatus(
  codes: readonly ErrorCode[],
  toStatus: (status: number) => number = (status) => status,
): [number, ErrorCode[]][] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const status = toStatus(errorCatalogue[code].status);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].sort(([left], [right]) => left - right);
}

function toHeaders(names: readonly (ResponseHeader | string)[]): Record<string, SchemaObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

interface Components {
  /** A reference to the component of that name, or the schema itself when it has none. */
  toSchema(schema: z.ZodType, direction: Direction): SchemaObject;
  schemas(): Readonly<Record<string, SchemaObject>>;
}

function createComponents(named: NamedSchemas): Components {
  const names = new Map<unknown, string>(Object.entries(named).map(([name, schema]) => [schema, name]));
  const built = new Map<string, { direction: Direction; schema: SchemaObject }>();

  function toSchema(schema: z.ZodType, direction: Direction): SchemaObject {
    const name = names.get(schema);
    if (name === undefined) return convert(schema, direction, "");
    const earlier = built.get(name);
    if (earlier !== undefined && earlier.direction !== direction) {
      throw new Error(`The schema ${name} is used both in requests and in answers: name it twice.`);
    }
    if (earlier === undefined) {
      built.set(name, { direction, schema: {} });
      built.set(name, { direction, schema: describeMembers(name, convert(schema, direction, name)) });
    }
    return { $ref: `${schemaPath}${name}` };
  }

  function convert(root: z.ZodType, direction: Direction, name: string): SchemaObject {
    const converted = z.toJSONSchema(root, {
      io: direction,
      // A check that JSON Schema cannot express leaves the part that it can.
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const inner = named[names.get(zodSchema) ?? ""];
        if (inner === undefined || inner === root) return;
        for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
        Object.assign(jsonSchema, toSchema(inner, direction));
      },
    });
    const { $schema: _dialect, $defs, ...schema } = converted;
    // Inside OpenAPI `#/$defs/x` would point at the whole document, so shared parts become components of their own.
    for (const [key, definition] of Object.entries($defs ?? {})) {
      if (built.has(`${name}${key}`)) throw new Error("Two schemas with shared parts: give each a name of its own.");
      built.set(`${name}${key}`, { direction, schema: tidy(definition, direction, name) });
    }
    return tidy(schema, direction, name);
  }

  return {
    toSchema,
    schemas: () =>
      Object.fromEntries(
        [...built].sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, { schema }]) => [name, schema]),
      ),
  };
}

/** What zod adds and a reader does not need, and references that hold inside one OpenAPI document. */
function tidy(node: unknown, direction: Direction, name = ""): SchemaObject {
  return walk(node) as SchemaObject;

  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    const schema = value as Record<string, unknown>;
    const reference = schema["$ref"];
    if (typeof reference === "string") {
      const { description } = schema;
      return { $ref: toComponentReference(reference), ...(description !== undefined && { description }) };
    }
    return Object.fromEntries(
      Object.entries(schema)
        .filter(([keyword, member]) => !isNoise(keyword, member))
        .map(([keyword, member]) => [keyword, walk(member)]),
    );
  }

  function toComponentReference(reference: string): string {
    if (reference === "#" && name === "") throw new Error("A schema that refers to itself needs a name.");
    if (reference === "#") return `${schemaPath}${name}`;
    return reference.startsWith("#/$defs/") ? `${schemaPath}${name}${reference.slice(8)}` : reference;
  }

  function isNoise(keyword: string, member: unknown): boolean {
    if (keyword === "$schema") return true;
    if (keyword === "minimum" && member === Number.MIN_SAFE_INTEGER) return true;
    if (keyword === "maximum" && member === Number.MAX_SAFE_INTEGER) return true;
    if (keyword !== "additionalProperties") return false;
    // Answers may gain members without notice, and an empty schema says what its absence says.
    if (member === false) return direction === "output";
    return typeof member === "object" && member !== null && Object.keys(member).length === 0;
  }
}

/** Adds a description to the members whose schema has none of its own. */
function describeMembers(name: string, schema: SchemaObject): SchemaObject {
  const descriptions = memberDescriptions[name];
  const properties = schema["properties"];
  if (descriptions === undefined || typeof properties !== "object" || properties === null) return schema;
  const described = Object.entries(properties as Record<string, SchemaObject>).map(([member, value]) => {
    const description = value["description"] ?? descriptions[member];
    return [member, description === undefined ? value : { ...value, description }];
  });
  return { ...schema, properties: Object.fromEntries(described) };
}
