// The pages of the API reference, from the OpenAPI document: one page for each tag, one for error codes and one for objects.

import { type ErrorCode, errorCatalogue } from "../errors.ts";
import { renderCode } from "./code-block.ts";
import type { Highlight } from "./highlight.ts";
import { type Html, html, nothing, prose } from "./html.ts";
import type { RenderedMarkdown, TextSection } from "./markdown.ts";
import { type MemberRow, readComponent, toMemberRows } from "./member-rows.ts";
import { renderMembers, toParameterRow } from "./member-table.ts";
import type * as openapi from "./openapi.ts";
import { renderTryIt } from "./try-it.ts";

export interface ApiPage extends Omit<RenderedMarkdown, "content"> {
  readonly path: string;
  readonly operations: readonly openapi.Operation[];
  readonly render: (rendering: ApiRendering) => Html;
}

export interface ApiRendering {
  readonly highlight: Highlight;
  /** The address of a page of the site, relative to the page that is rendered. */
  readonly linkTo: (path: string) => string;
  /** Whether the page is served by a gateway, so that operations can be tried. */
  readonly canTry: boolean;
}

const errorsPath = "api/errors";
const objectsPath = "api/objects";

export function listApiPages(document: openapi.OpenApiDocument): ApiPage[] {
  const operations = listOperations(document);
  const tagged = document.tags.map(({ name, description }) =>
    toTagPage({
      name,
      description,
      document,
      all: operations,
      shown: operations.filter(({ described }) => described.tags[0] === name),
    }),
  );
  return [...tagged, errorsPage(), objectsPage(document)];
}

function listOperations(document: openapi.OpenApiDocument): openapi.Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      summary: described.summary,
      described,
    })),
  );
}

interface TagPage {
  readonly name: string;
  readonly description: string;
  readonly document: openapi.OpenApiDocument;
  readonly all: readonly openapi.Operation[];
  readonly shown: readonly openapi.Operation[];
}

function toTagPath(tag: string): string {
  return `api/${tag.toLowerCase()}`;
}

function toTagPage(tag: TagPage): ApiPage {
  const { name, description, document, shown } = tag;
  const webhooks = Object.values(document.webhooks).map(({ post }) => post);
  const callbacks = webhooks.filter(({ tags }) => tags[0] === name);
  return {
    path: toTagPath(name),
    title: name,
    summary: description,
    headings: [],
    operations: shown,
    sections: [
      { id: null, heading: `${name} API`, text: description },
      ...shown.map(toSearchSection),
      ...callbacks.map((one) => ({ id: one.operationId, heading: one.summary, text: one.description ?? "" })),
    ],
    render: (rendering) => html`<p class="lead">${prose(description)}</p>
${shown.map((operation) => renderOperation(operation, tag, rendering))}
${callbacks.map((callback) => renderWebhook(callback, rendering))}`,
  };
}

function toSearchSection({ id, method, path, summary, described }: openapi.Operation): TextSection {
  const names = (described.parameters ?? []).map(({ name }) => name);
  return { id, heading: summary, text: [`${method} ${path}`, described.description ?? "", ...names].join(" ") };
}

const keyNeeds = new Map([
  ["inferenceKey", "Inference key"],
  ["managementKey", "Management key"],
]);

function renderOperation(operation: openapi.Operation, tag: TagPage, rendering: ApiRendering): Html {
  const { id, method, path, summary, described } = operation;
  const parameters = described.parameters ?? [];
  const [security = {}] = described.security;
  const need = Object.keys(security).map((name) => keyNeeds.get(name) ?? name)[0] ?? "No key needed";
  return html`
<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="description">
<h2 id="${id}-title">${summary}<a class="anchor" href="#${id}" aria-label="Link to this section: ${summary}">#</a></h2>
<p class="route">${renderMethod(method)} <code>${path}</code> <span class="needs">${need}</span></p>
${described.description === undefined ? nothing : html`<p>${prose(described.description)}</p>`}
${parameters.length === 0 ? nothing : html`<h3>Parameters</h3>${renderMembers("Parameters", parameters.map(toParameterRow), { sender: "client", toObject })}`}
${renderRequestBody(operation, tag, rendering.linkTo)}
<h3>Answers</h3>
${Object.entries(described.responses)
  .filter(([status]) => Number(status) < 400)
  .map(([status, response]) => renderAnswer(status, response, tag.document, toObject))}
<details class="errors"><summary>Errors</summary>
<ul class="codes">${Object.entries(described.responses)
    .filter(([status]) => Number(status) >= 400)
    .map(
      ([status, response]) =>
        html`<li><b>${status}</b><span>${(response["x-error-codes"] ?? []).map((code) => html`<a href="${rendering.linkTo(errorsPath)}#${code}">${code}</a> `)}</span></li>`,
    )}</ul></details>
</div>
<div class="samples">
${renderSamples(described["x-codeSamples"] ?? [], rendering.highlight)}
${rendering.canTry ? renderTryIt(operation, (schema) => resolve(schema, tag.document)) : nothing}
</div>
</section>`;

  function toObject(name: string): string {
    return `${rendering.linkTo(objectsPath)}#${name}`;
  }
}

type ToObject = (name: string) => string;

/** Operations with the same request body show its members once. */
function renderRequestBody(
  operation: openapi.Operation,
  { all, document }: TagPage,
  linkTo: ApiRendering["linkTo"],
): Html {
  const body = operation.described.requestBody;
  const schema = bodySchema(operation);
  if (body === undefined || schema === undefined) return nothing;
  const title = html`<h3>Request body${body.required ? "" : " (optional)"}</h3>`;
  const component = readComponent(schema);
  const first = all.find((one) => {
    const other = bodySchema(one);
    return other !== undefined && component !== null && readComponent(other) === component;
  });
  if (first !== undefined && first.id !== operation.id) {
    const href = `${linkTo(toTagPath(first.described.tags[0] ?? ""))}#${first.id}`;
    return html`${title}<p>The same as in <a href="${href}">${first.summary}</a>.</p>`;
  }
  const toObject = (name: string) => `${linkTo(objectsPath)}#${name}`;
  return html`${title}${renderMembers("Request body", toMemberRows(resolve(schema, document)), { sender: "client", toObject })}`;
}

function bodySchema({ described }: openapi.Operation): openapi.SchemaObject | undefined {
  return Object.values(described.requestBody?.content ?? {})[0]?.schema;
}

function renderAnswer(
  status: string,
  { description, content = {} }: openapi.ResponseObject,
  document: openapi.OpenApiDocument,
  toObject: ToObject,
): Html {
  const types = Object.entries(content).map(([type, { schema }]) => {
    const component = readComponent(schema);
    if (component === null) return html`<p><code>${type}</code></p>`;
    const rows = toMemberRows(resolve(schema, document));
    const title = html`<code>${type}</code> <a href="${toObject(component)}">${component}</a>`;
    if (rows.length === 0) return html`<p>${title}</p>`;
    return html`<p>${title}</p>
<details><summary>Members of ${component}</summary>${renderMembers(component, rows, { sender: "gateway", toObject })}</details>`;
  });
  return html`<div class="answer"><b>${status}</b><div><p>${prose(description)}</p>${types}</div></div>`;
}

function renderSamples(samples: readonly openapi.CodeSample[], highlight: Highlight): Html {
  return html`<div class="tabs">${samples.map(({ label, lang, source }) =>
    renderCode({ code: source, language: languages.get(lang) ?? "", title: label, highlight }),
  )}</div>`;
}

const languages = new Map([
  ["Shell", "sh"],
  ["TypeScript", "ts"],
  ["Python", "python"],
]);

function renderWebhook(callback: openapi.OperationObject, { linkTo }: ApiRendering): Html {
  const { operationId: id, summary, description = "", parameters = [], responses } = callback;
  const toObject = (name: string) => `${linkTo(objectsPath)}#${name}`;
  const payload = Object.values(callback.requestBody?.content ?? {}).map(({ schema }) => readComponent(schema))[0];
  return html`
<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="description">
<h2 id="${id}-title">Webhook: ${summary}<a class="anchor" href="#${id}" aria-label="Link to this section: ${summary}">#</a></h2>
<p>${prose(description)} ${payload == null ? nothing : html`The body is a <a href="${toObject(payload)}">${payload}</a>.`}</p>
<h3>Headers</h3>
${renderMembers("Webhook headers", parameters.map(toParameterRow), { sender: "gateway", toObject })}
<h3>Answers of the receiver</h3>
<ul class="codes">${Object.entries(responses).map(
    ([status, response]) => html`<li><b>${status}</b><div>${prose(response.description)}</div></li>`,
  )}</ul>
</div>
</section>`;
}

function errorsPage(): ApiPage {
  const codes = (Object.keys(errorCatalogue) as ErrorCode[]).toSorted(
    (one, other) => errorCatalogue[one].status - errorCatalogue[other].status,
  );
  const summary = "Every error has a code that programs can read, in `error.code`.";
  return {
    path: errorsPath,
    title: "Error codes",
    summary,
    headings: [],
    operations: [],
    sections: codes.map((code) => ({ id: code, heading: code, text: errorCatalogue[code].meaning })),
    render: () => html`<p class="lead">${prose(summary)}</p>
<table class="members" aria-label="Error codes">
<thead><tr><th scope="col">Code, status and type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${codes.map((code) => {
      const { status, type, meaning, mayRetry } = errorCatalogue[code];
      return html`<tr id="${code}">
<th scope="row"><code>${code}</code><span class="type">${status}, ${type}</span></th>
<td>${prose(meaning)}${mayRetry ? "" : " Do not retry."}</td></tr>`;
    })}</tbody></table>`,
  };
}

/** The objects of answers; request bodies are shown with their operations. */
function objectsPage(document: openapi.OpenApiDocument): ApiPage {
  const objects = Object.entries(document.components.schemas)
    .filter(([name]) => !name.endsWith("Request"))
    .map(([name, schema]): [string, MemberRow[]] => [name, toMemberRows(schema)]);
  const summary = "The objects that answers and webhooks consist of.";
  return {
    path: objectsPath,
    title: "Objects",
    summary,
    headings: objects.map(([name]) => ({ depth: 2, id: name, text: name })),
    operations: [],
    sections: objects.map(([name, rows]) => ({
      id: name,
      heading: name,
      text: rows.map(({ path }) => path).join(" "),
    })),
    render: () => html`<p class="lead">${summary}</p>
${objects.map(
  ([name, rows]) => html`<section id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title">${name}<a class="anchor" href="#${name}" aria-label="Link to this section: ${name}">#</a></h2>
${renderMembers(name, rows, { sender: "gateway", toObject: (other) => `#${other}` })}
</section>`,
)}`,
  };
}

export function renderMethod(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

function resolve(schema: openapi.SchemaObject, document: openapi.OpenApiDocument): openapi.SchemaObject {
  const component = readComponent(schema);
  return component === null ? schema : (document.components.schemas[component] ?? {});
}
