// The API reference: the routes, schemas and errors of the OpenAPI document as a page for people.

import { type ErrorCode, errorCatalogue } from "../../errors.ts";
import type { Route, Tag } from "../route.ts";
import * as openapi from "./build-openapi.ts";
import { docsStyle } from "./docs-style.ts";
import * as examples from "./examples.ts";
import { Html, html, nothing, prose } from "./html.ts";
import { type MemberRow, readComponent, toMemberRows } from "./member-rows.ts";
import { groupByStatus, groupErrors } from "./route-errors.ts";

const guides = [
  ["quick-start", "Quick start"],
  ["authentication", "Authentication"],
  ["model-names", "Model names"],
  ["sdks", "OpenAI SDKs"],
  ["streaming", "Streaming"],
  ["error-shapes", "Error formats"],
] as const;

export function renderDocsPage(routes: readonly Route[]): string {
  const document = openapi.buildOpenApi(routes);
  const tags = (Object.keys(openapi.tagDescriptions) as Tag[]).filter((tag) =>
    routes.some((route) => route.tag === tag),
  );
  const navigation = renderNavigation(routes, tags);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Switchyard API reference</title>
<meta name="description" content="${document.info.title}: the public interface, version ${document.info.version}.">
<style>${styleElement}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<details class="menu"><summary>Contents</summary><nav aria-label="Contents">${navigation}</nav></details>
<div class="frame">
<div class="side"><div>
<p class="brand"><a href="#content">Switchyard</a> <span class="version">API ${document.info.version}</span></p>
<nav aria-label="Contents">${navigation}</nav>
</div></div>
<main id="content" tabindex="-1">
<h1>Switchyard API reference</h1>
<p class="lead">One address and one key in front of every AI provider.</p>
${renderGuides()}
${tags.map((tag) => renderTag(tag, { routes, document }))}
${renderWebhook(document)}
${renderErrorCodes()}
${renderObjects(document)}
<footer><p>Generated from the schemas that this gateway checks requests with. For programs:
<a href="/v3/openapi.json">OpenAPI 3.1 document</a>.</p></footer>
</main>
</div>
</body>
</html>
`;
  return page.text;
}

const styleElement = new Html(docsStyle);

/** The page loads nothing and runs no script; its one style element is allowed by hash. */
export function docsPolicy(): string {
  const hash = new Bun.CryptoHasher("sha256").update(docsStyle).digest("base64");
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

function renderNavigation(routes: readonly Route[], tags: readonly Tag[]): Html {
  return html`<h2>Start here</h2>
<ul>${guides.map(([anchor, title]) => html`<li><a href="#${anchor}">${title}</a></li>`)}</ul>
${tags.map(
  (tag) => html`<h2>${tag}</h2>
<ul>${routes
    .filter((route) => route.tag === tag)
    .map(
      (route) => html`<li><a href="#${route.id}">${renderMethod(route.method)}<span>${route.summary}</span></a></li>`,
    )}</ul>`,
)}
<h2>Reference</h2>
<ul><li><a href="#webhook">Webhook</a></li><li><a href="#errors">Error codes</a></li><li><a href="#objects">Objects</a></li></ul>`;
}

function renderGuides(): Html {
  return html`
<section id="quick-start"><h2>Quick start</h2>
<p>The gateway prints one management key and one inference key at its first start. Put them into your shell; every
command on this page then works as pasted, answered by the built-in sandbox provider, offline and free. Take ids from
earlier answers, and use files of your own.</p>
${renderCode("Shell", examples.setUp)}
<p>Check that the gateway answers. This needs no key:</p>
${renderCode("Shell", 'curl -sS "$SWITCHYARD_URL/v3/models?provider=sandbox"')}
<p>Say hello:</p>
${renderCode("Shell", examples.helloCommand)}
${renderCode("Answer", examples.firstAnswer)}
<p>${prose("To reach a real provider, give the gateway its key in the setting `<PROVIDER>_API_KEY` and name one of its models. Nothing else changes.")}</p>
</section>

<section id="authentication"><h2>Authentication</h2>
<p>${prose("Send the key as `Authorization: Bearer <key>`. There are three kinds:")}</p>
<table><thead><tr><th scope="col">Kind</th><th scope="col">Begins with</th><th scope="col">May call</th></tr></thead><tbody>
<tr><th scope="row">Inference</th><td><code>sk-sy-</code></td><td>Everything that calls a model.</td></tr>
<tr><th scope="row">Sandbox</th><td><code>sk-sy-sandbox-</code></td><td>The same paths, always answered by the sandbox, at no cost.</td></tr>
<tr><th scope="row">Management</th><td><code>mgmt-sy-</code></td><td>${prose("`/v3/manage/*` only.")}</td></tr>
</tbody></table>
<p>${prose("A secret is shown once, when the key is created or rotated; the gateway stores only its hash. A key can be limited to models, to a rate and in time. Listings, this page and the health checks need no key.")}</p>
</section>

<section id="model-names"><h2>Model names</h2>
<p>${prose("A model is named `<provider>/<model>`. The name is split at the first slash, so the model may contain slashes itself: `<provider>/<vendor>/<model>`. A model that is not in the listing is still sent to its provider; its cost is then `null`, which means unknown and never free.")}</p>
</section>

<section id="sdks"><h2>OpenAI SDKs</h2>
<p>${prose("Clients built for the OpenAI chat format work unchanged: give them the gateway's address with `/v3` and a gateway key.")}</p>
${renderCode("JavaScript: npm install openai", examples.javascriptClient)}
${renderCode("Python: pip install openai", examples.pythonClient)}
</section>

<section id="streaming"><h2>Streaming</h2>
<p>${prose("With `stream: true` the answer arrives as server-sent events. The first chunk carries the role, the following ones parts of the answer, one of them the `finish_reason`. With `stream_options.include_usage` the last chunk has usage and cost.")}</p>
${renderCode("Shell", examples.streamingCommand)}
${renderCode("Answer", examples.streamingAnswer)}
<p>${prose('A complete stream ends with `data: [DONE]`. When the provider fails after the first part, the stream ends with `data: {"error": ...}` and without `[DONE]`: such an answer is incomplete. Lines that begin with a colon are heartbeats; clients ignore them.')}</p>
${renderCode("JavaScript", examples.streamingJavascript)}
${renderCode("Python", examples.streamingPython)}
</section>

<section id="error-shapes"><h2>Error formats</h2>
<p>${prose("Every error carries two forms at once: `error` for OpenAI clients and `detail` for FastAPI clients. Programs read `error.code`; the codes are listed under")} <a href="#errors">Error codes</a>. ${prose("Every answer has an `x-request-id`: include it when you report a problem.")}</p>
${renderCode("An error", examples.plainError)}
<p>${prose("An invalid request is answered with 422 and all its problems at once. `loc` is the path to the member, `error` repeats the first problem, and its `code` is the type of that problem.")}</p>
${renderCode("An invalid request", examples.validationError)}
<p>${prose("On 429 and 503, `Retry-After` gives the seconds to wait. `x-should-retry: false` tells SDKs not to retry.")}</p>
</section>`;
}

interface Page {
  readonly routes: readonly Route[];
  readonly document: openapi.OpenApiDocument;
}

function renderTag(tag: Tag, page: Page): Html {
  return html`
<section id="tag-${tag.toLowerCase()}"><h2>${tag}</h2>
<p>${prose(openapi.tagDescriptions[tag])}</p>
${page.routes
  .filter((route) => route.tag === tag)
  .map((route) => {
    const described = page.document.paths[openapi.toOpenApiPath(route.path)]?.[route.method.toLowerCase()];
    return described === undefined ? nothing : renderOperation(route, described, page);
  })}
</section>`;
}

const keyNeeds: Readonly<Record<Route["key"], string>> = {
  none: "No key needed",
  inference: "Inference key",
  management: "Management key",
};

function renderOperation(route: Route, described: openapi.OperationObject, page: Page): Html {
  const parameters = described.parameters ?? [];
  return html`
<article id="${route.id}" aria-labelledby="${route.id}-title">
<h3 id="${route.id}-title">${route.summary}</h3>
<p class="route">${renderMethod(route.method)} <code>${openapi.toOpenApiPath(route.path)}</code> <span class="needs">${keyNeeds[route.key]}</span></p>
${route.description === undefined ? nothing : html`<p>${prose(route.description)}</p>`}
${parameters.length === 0 ? nothing : html`<h4>Parameters</h4>${renderMembers("Parameters", parameters.map(toParameterRow), "client")}`}
${renderRequestBody(route, described, page)}
<h4>Example</h4>
${renderCode("Shell", examples.toCurl(route))}
<h4>Answers</h4>
<ul class="codes">${Object.entries(described.responses)
    .filter(([status]) => Number(status) < 400)
    .map(
      ([status, response]) =>
        html`<li><b>${status}</b><div>${prose(response.description)} ${renderContentTypes(response.content)}</div></li>`,
    )}</ul>
<h4>Errors</h4>
<ul class="codes">${groupErrors(route).map(
    ([status, codes]) =>
      html`<li><b>${status}</b><span>${codes.map((code) => html`<a href="#error-${code}">${code}</a> `)}</span></li>`,
  )}</ul>
</article>`;
}

/** Routes with the same request body show its members once. */
function renderRequestBody(route: Route, described: openapi.OperationObject, page: Page): Html {
  const schema = Object.values(described.requestBody?.content ?? {})[0]?.schema;
  if (schema === undefined) return nothing;
  const title = described.requestBody?.required === true ? "Request body" : "Request body (optional)";
  const first = page.routes.find(({ body }) => schemaOf(body) === schemaOf(route.body));
  if (first !== undefined && first !== route) {
    return html`<h4>${title}</h4><p>The same as in <a href="#${first.id}">${first.summary}</a>.</p>`;
  }
  return html`<h4>${title}</h4>${renderMembers("Request body", toMemberRows(resolve(schema, page.document)), "client")}`;
}

function schemaOf(body: Route["body"]): unknown {
  return body !== undefined && "schema" in body ? body.schema : null;
}

function renderContentTypes(content: Readonly<Record<string, { readonly schema: openapi.SchemaObject }>> = {}): Html[] {
  return Object.entries(content).map(([type, { schema }]) => {
    const component = readComponent(schema);
    return component === null
      ? html`<br><code>${type}</code>`
      : html`<br><code>${type}</code>: <a href="#object-${component}">${component}</a>`;
  });
}

function renderWebhook({ webhooks }: openapi.OpenApiDocument): Html {
  const { post: webhook } = webhooks.jobEnded;
  return html`
<section id="webhook"><h2>Webhook</h2>
<p>${prose(webhook.description)} The body is a <a href="#object-WebhookPayload">WebhookPayload</a>.</p>
<h4>Headers</h4>
${renderMembers("Webhook headers", webhook.parameters.map(toParameterRow), "gateway")}
<h4>Answers of the receiver</h4>
<ul class="codes">${Object.entries(webhook.responses).map(
    ([status, response]) => html`<li><b>${status}</b><div>${prose(response.description)}</div></li>`,
  )}</ul>
</section>`;
}

function renderErrorCodes(): Html {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  return html`
<section id="errors"><h2>Error codes</h2>
<table class="members" aria-label="Error codes">
<thead><tr><th scope="col">Code, status and type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${groupByStatus(codes).flatMap(([status, grouped]) =>
    grouped.map((code) => {
      const entry = errorCatalogue[code];
      const advice = entry.mayRetry ? "" : " Do not retry.";
      return html`<tr id="error-${code}">
<th scope="row"><code>${code}</code><span class="type">${status}, ${entry.type}</span></th>
<td>${prose(entry.meaning)}${advice}</td></tr>`;
    }),
  )}</tbody></table>
</section>`;
}

/** The objects in answers; request bodies are shown with their routes. */
function renderObjects(document: openapi.OpenApiDocument): Html {
  const answers = Object.entries(document.components.schemas).filter(([name]) => !name.endsWith("Request"));
  return html`
<section id="objects"><h2>Objects</h2>
${answers.map(
  ([name, schema]) => html`<article id="object-${name}" aria-labelledby="object-${name}-title">
<h3 id="object-${name}-title">${name}</h3>
${renderMembers(name, toMemberRows(schema), "gateway")}
</article>`,
)}
</section>`;
}

/** The sender of a body: a client has to know which members it must send, and which ones may be absent from an answer. */
type Sender = "client" | "gateway";

function renderMembers(title: string, rows: readonly MemberRow[], sender: Sender): Html {
  return html`<table class="members" aria-label="${title}">
<thead><tr><th scope="col">Name and type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows.map((row) => renderMember(row, sender))}</tbody></table>`;
}

function renderMember(row: MemberRow, sender: Sender): Html {
  const limits = row.limits.length === 0 ? nothing : html`<span class="limits">${prose(row.limits.join("; "))}</span>`;
  return html`<tr${row.inner.length === 0 ? nothing : html` class="outer"`}>
<th scope="row">${renderPath(row.path)}${renderPresence(row, sender)}<span class="type">${renderType(row)}</span></th>
<td>${prose(row.description)}${limits}</td></tr>${renderInner(row, sender)}`;
}

function renderPresence({ isRequired }: MemberRow, sender: Sender): Html {
  if (sender === "client") return isRequired ? html` <span class="required">required</span>` : nothing;
  return isRequired ? nothing : html` <span class="optional">may be absent</span>`;
}

function renderInner({ path, inner }: MemberRow, sender: Sender): Html {
  if (inner.length === 0) return nothing;
  return html`
<tr><td colspan="2"><details><summary>Inside <code>${path}</code></summary>
<div>${renderMembers(`Inside ${path}`, inner, sender)}</div></details></td></tr>`;
}

function renderPath(path: string): Html {
  const lastDot = path.lastIndexOf(".");
  if (lastDot < 0) return html`<code>${path}</code>`;
  return html`<code><span class="parent">${path.slice(0, lastDot + 1)}</span>${path.slice(lastDot + 1)}</code>`;
}

function renderType({ type, component }: MemberRow): Html {
  if (component === null || !type.includes(component)) return html`${type}`;
  const [before = "", after = ""] = type.split(component, 2);
  return html`${before}<a href="#object-${component}">${component}</a>${after}`;
}

function toParameterRow({ name, in: place, required, description = "", schema }: openapi.ParameterObject): MemberRow {
  const rows = toMemberRows({ properties: { [name]: schema } });
  return {
    path: name,
    type: `${place}, ${rows[0]?.type ?? "any"}`,
    component: null,
    isRequired: required,
    description,
    limits: rows[0]?.limits ?? [],
    inner: [],
  };
}

function renderMethod(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

function renderCode(title: string, code: string): Html {
  return html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

function resolve(schema: openapi.SchemaObject, document: openapi.OpenApiDocument): openapi.SchemaObject {
  const component = readComponent(schema);
  return component === null ? schema : (document.components.schemas[component] ?? {});
}
