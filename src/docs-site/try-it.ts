// The form with which a reader calls an operation of this gateway. The script of the site sends it; without the script it is not shown.

import { type Html, html, nothing } from "./html.ts";
import type { MediaType, Operation, ParameterObject, SchemaObject } from "./openapi.ts";

const keyTitles = new Map([
  ["inferenceKey", "Inference key"],
  ["managementKey", "Management key"],
]);

type Resolve = (schema: SchemaObject) => SchemaObject;

export function renderTryIt({ id, method, path, summary, described }: Operation, resolve: Resolve): Html {
  const [security = {}] = described.security;
  const kind = Object.keys(security)[0];
  const [type, media] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  const fields = (described.parameters ?? []).filter((parameter) => parameter.in !== "header");
  return html`<details class="try" hidden><summary>Try it</summary>
<form data-method="${method}" data-path="${path}" aria-label="Try it: ${summary}">
${kind === undefined ? nothing : renderKey(id, kind)}
${fields.map((parameter) => renderParameter(id, parameter))}
${type === undefined || media === undefined ? nothing : type === "application/json" ? renderJson(id, media) : renderForm(id, resolve(media.schema))}
<div class="buttons"><button type="submit">Send</button> <button type="button" data-stop hidden>Stop</button></div>
</form>
<div class="result" role="status" aria-live="polite"></div>
</details>`;
}

function renderKey(id: string, kind: string): Html {
  return html`<label for="${id}-key">${keyTitles.get(kind) ?? "Key"} <small>stays in this page</small></label>
<input id="${id}-key" type="password" autocomplete="off" spellcheck="false" data-key="${kind}">`;
}

function renderParameter(id: string, { name, in: place, required, schema }: ParameterObject): Html {
  const fieldId = `${id}-${place}-${name}`;
  const label = html`<label for="${fieldId}"><code>${name}</code> <small>${place}${required ? ", required" : ""}</small></label>`;
  const choices = schema["enum"];
  if (Array.isArray(choices))
    return html`${label}<select id="${fieldId}" data-in="${place}" data-name="${name}"><option value=""></option>${choices.map((choice) => html`<option>${String(choice)}</option>`)}</select>`;
  return html`${label}<input id="${fieldId}" type="text" autocomplete="off" spellcheck="false" data-in="${place}" data-name="${name}"${required ? html` required` : nothing}>`;
}

function renderJson(id: string, { example }: MediaType): Html {
  const text = example === undefined ? "" : JSON.stringify(example, null, 2);
  return html`<label for="${id}-body">Body <small>JSON</small></label>
<textarea id="${id}-body" rows="${Math.min(14, Math.max(3, text.split("\n").length))}" spellcheck="false" data-body>${text}</textarea>`;
}

function renderForm(id: string, schema: SchemaObject): Html {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Record<string, unknown>>);
  return html`${properties.map(([name, property]) => {
    const fieldId = `${id}-part-${name}`;
    const isFile = property["format"] === "binary";
    return html`<label for="${fieldId}"><code>${name}</code> <small>part of the form</small></label>
<input id="${fieldId}" type="${isFile ? "file" : "text"}" data-part="${name}">`;
  })}`;
}
