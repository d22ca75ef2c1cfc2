// Builds the OpenAPI 3.1 document from the route table.

import { z } from "zod";
import { webhookHeaders, webhookPayload } from "../../contract/async-jobs.ts";
import { errorBody, validationErrorBody } from "../../contract/errors.ts";
import { messagesError } from "../../contract/messages.ts";
import type { ParameterObject, ResponseObject, SchemaObject } from "../../docs-site/openapi.ts";
import { errorCatalogue } from "../../errors.ts";
import type { Answer, Route, Tag } from "../route.ts";
import { toOpenApiPath } from "./openapi-path.ts";
import { groupErrors } from "./route-errors.ts";
import { toSamples } from "./samples.ts";

export type OpenApiDocument = ReturnType<typeof buildOpenApi>;
type OperationObject = ReturnType<typeof toOperationObject>;

interface DescribedResponse extends ResponseObject {
  readonly headers?: Readonly<Record<string, SchemaObject>>;
}

type Content = NonNullable<ResponseObject["content"]>;
type Direction = "input" | "output";

/** The version of the interface, not of this package. */
const interfaceVersion = "3.0.0";
const schemaPath = "#/components/schemas/";

const tagDescriptions: Readonly<Record<Tag, string>> = {
  Chat: "Chat with every model of every configured provider, in the OpenAI chat format.",
  Responses: "Stateful conversations, stored by the provider, by the gateway, or not at all.",
  Embeddings: "Texts as vectors, in the OpenAI format.",
  Files: "Files that are named in later requests, and files that tasks produced.",
  Models: "The models that can be called, and what is known about them.",
  Jobs: "Tasks that run in the background, and the webhooks that report their end.",
  Tasks: "Specialised tasks such as OCR, translation and speech: their providers, schemas and prices.",
  Keys: "Create, limit, rotate and revoke the keys of this gateway.",
  Teams: "Create, limit, disable and delete teams, whose keys share limits and data.",
  Access: "Sign in to the dashboard, and read who changed what.",
  Usage: "What was called, by whom, and what it cost.",
  Providers: "The providers that are configured, and their health.",
  Service: "The interface itself, and the state of the process that serves it.",
};

const headers: Readonly<Record<string, { description: string; schema: SchemaObject }>> = {
  "x-request-id": { description: "Identifies this request in the gateway's log.", schema: { type: "string" } },
  etag: { description: "Strong entity tag of the bytes, for `If-None-Match`.", schema: { type: "string" } },
  "cache-control": { description: "Whether and how long the answer may be stored.", schema: { type: "string" } },
  "www-authenticate": { description: "Always `Bearer`.", schema: { type: "string", const: "Bearer" } },
  "retry-after": { description: "Seconds to wait before the next attempt.", schema: { type: "integer", minimum: 0 } },
};

const errorHeaders: Readonly<Record<number, string>> = {
  401: "www-authenticate",
  429: "retry-after",
  503: "retry-after",
};

export function buildOpenApi(routes: readonly Route[]) {
  const components = createComponents();
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const route of routes) {
    const path = toOpenApiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperationObject(route, components) };
  }
  const webhooks = { jobEnded: { post: describeWebhook(components) } };
  const used = new Set(routes.map((route) => route.tag));
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
    webhooks,
    components: {
      schemas: components.schemas(),
      headers,
      securitySchemes: {
        inferenceKey: { type: "http", scheme: "bearer", description: "An inference key, `sk-sy-…`." },
        managementKey: { type: "http", scheme: "bearer", description: "A management key, `mgmt-sy-…`." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "switchyard_session",
          description:
            "A session that began at `/v3/manage/session`. Requests other than GET also need the header `x-switchyard-csrf`.",
        },
      },
    },
  };
}

function toOperationObject(route: Route, components: Components) {
  const parameters = [
    ...toParameters(route.params, "path"),
    ...toParameters(route.query, "query"),
    ...toParameters(route.headers, "header"),
  ];
  return {
    operationId: route.id,
    summary: route.summary,
    ...toDescription(route),
    tags: [route.tag],
    security: toSecurity(route),
    ...(route.role !== undefined && { "x-switchyard-role": route.role, "x-switchyard-reach": route.reach }),
    ...(parameters.length > 0 && { parameters }),
    ...toRequestBody(route, components),
    responses: { ...toResponses(route.answers, components), ...toErrorResponses(route, components) },
    "x-codeSamples": toSamples(route),
  };
}

function toSecurity({ key }: Route): Record<string, readonly string[]>[] {
  if (key === "none") return [];
  return key === "management" ? [{ managementKey: [] }, { session: [] }] : [{ [`${key}Key`]: [] }];
}

/** With a sentence about the role that the operation needs. */
function toDescription({ description, role, reach }: Route): { description?: string } {
  if (role === undefined) return description === undefined ? {} : { description };
  const limited = reach === "team" ? "or that role of a team, which sees that team only" : "not limited to a team";
  const needs = `Needs the role \`${role}\`, ${limited}.`;
  return { description: description === undefined ? needs : `${description} ${needs}` };
}

function toParameters(schema: z.ZodType | undefined, place: ParameterObject["in"]): ParameterObject[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = toJsonSchema(schema, "input");
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = tidy(property, "input");
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(typeof description === "string" && { description }),
      schema: rest,
    };
  });
}

function toRequestBody({ body, example }: Pick<Route, "body" | "example">, components: Components) {
  if (body === undefined || body.kind === "ignored-json") return {};
  const type = body.kind === "form" ? "multipart/form-data" : "application/json";
  const schema = components.toSchema(body.schema, "input");
  const media = { schema, ...(example?.body !== undefined && { example: example.body }) };
  return { requestBody: { required: body.kind !== "optional-json", content: { [type]: media } } };
}

function toResponses(answers: readonly Answer[], components: Components): Readonly<Record<string, DescribedResponse>> {
  const byStatus: Record<string, DescribedResponse> = {};
  for (const answer of answers) {
    const earlier = byStatus[answer.status];
    const content = { ...earlier?.content, ...toContent(answer, components) };
    byStatus[answer.status] = {
      description: earlier === undefined ? answer.description : `${earlier.description} ${answer.description}`,
      headers: { ...earlier?.headers, ...toHeaders(["x-request-id", ...(answer.headers ?? [])]) },
      ...(Object.keys(content).length > 0 && { content }),
    };
  }
  return byStatus;
}

function toContent({ schema, contentType }: Answer, components: Components): Content {
  if (schema !== undefined) {
    return { [contentType ?? "application/json"]: { schema: components.toSchema(schema, "output") } };
  }
  return contentType === undefined ? {} : { [contentType]: { schema: { type: "string" } } };
}

function toErrorResponses(route: Route, components: Components): Record<string, DescribedResponse> {
  const byStatus: Record<string, DescribedResponse> = {};
  for (const [status, codes] of groupErrors(route)) {
    const usual = status === 422 ? validationErrorBody : errorBody;
    const schema = route.errorFormat === "messages" ? messagesError : usual;
    const header = errorHeaders[status];
    byStatus[status] = {
      description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].meaning}`).join("\n\n"),
      headers: toHeaders(header === undefined ? ["x-request-id"] : ["x-request-id", header]),
      content: { "application/json": { schema: components.toSchema(schema, "output") } },
      "x-error-codes": codes,
    };
  }
  return byStatus;
}

function toHeaders(names: readonly string[]): Record<string, SchemaObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The one call that the gateway makes to its callers. */
function describeWebhook(components: Components) {
  return {
    operationId: "jobEnded",
    summary: "A job has ended",
    description:
      "Sent to the `webhook_receiver` of a job. Check the signature against the bytes of the body, with the keys of " +
      "`/v3/webhooks/keys`. A receiver may get the same callback more than once.",
    tags: ["Jobs"],
    security: [],
    parameters: toParameters(webhookHeaders, "header"),
    requestBody: {
      required: true,
      content: { "application/json": { schema: components.toSchema(webhookPayload, "output") } },
    },
    responses: {
      "2XX": { description: "The callback was accepted." },
      "4XX": { description: "The callback was refused, and is not sent again." },
      "5XX": { description: "The receiver failed. The callback is sent again, up to three times." },
    },
  };
}

interface Components {
  /** A reference to the component that the schema's `id` names, or the schema itself when it has none. */
  toSchema(schema: z.ZodType, direction: Direction): SchemaObject;
  schemas(): Readonly<Record<string, SchemaObject>>;
}

function createComponents(): Components {
  const built = new Map<string, { direction: Direction; schema: SchemaObject }>();
  return {
    toSchema(root, direction) {
      const { $defs = {}, ...schema } = toJsonSchema(root, direction);
      for (const [name, definition] of Object.entries($defs)) {
        if ((built.get(name)?.direction ?? direction) !== direction)
          throw new Error(`The schema ${name} is used both in requests and in answers: give it two ids.`);
        built.set(name, { direction, schema: tidy(definition, direction) });
      }
      return tidy(schema, direction);
    },
    schemas: () =>
      Object.fromEntries(
        [...built].sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, { schema }]) => [name, schema]),
      ),
  };
}

function toJsonSchema(schema: z.ZodType, direction: Direction) {
  return z.toJSONSchema(schema, {
    io: direction,
    // A check that JSON Schema cannot express leaves the part that it can.
    unrepresentable: "any",
    // zod leaves out the default of a transformed value, such as the number of a page, which arrives as text.
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod;
      if (def.type === "default" && direction === "input") jsonSchema.default ??= def.defaultValue;
    },
  });
}

/** Removes what zod adds and a reader does not need, and makes references point into the OpenAPI document. */
function tidy(node: unknown, direction: Direction): SchemaObject {
  return walk(node) as SchemaObject;

  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([keyword, member]) => !isNoise(keyword, member))
        .map(([keyword, member]) => [keyword, keyword === "$ref" ? toComponentReference(member) : walk(member)]),
    );
  }

  function toComponentReference(reference: unknown): string {
    const [, name] = /^#\/\$defs\/([A-Z]\w*)$/.exec(String(reference)) ?? [];
    if (name === undefined) throw new Error("A schema that refers to itself needs an id.");
    return `${schemaPath}${name}`;
  }

  function isNoise(keyword: string, member: unknown): boolean {
    if (keyword === "$schema" || member === undefined) return true;
    if (keyword === "minimum" && member === Number.MIN_SAFE_INTEGER) return true;
    if (keyword === "maximum" && member === Number.MAX_SAFE_INTEGER) return true;
    if (keyword !== "additionalProperties") return false;
    // Answers may gain members without notice. An empty schema has no effect.
    if (member === false) return direction === "output";
    return typeof member === "object" && member !== null && Object.keys(member).length === 0;
  }
}
