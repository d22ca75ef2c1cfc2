// Where `provider_params` go in a vendor's request. They may add to it and change it; they may not reach what is not the caller's.

import { type Problem, ValidationError } from "../../errors.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { ProviderRow } from "../../providers/provider.ts";
import type { TaskRequest, TaskRequestBody } from "../../providers/task.ts";

export function mergeParams(request: TaskRequest, params: JsonObject, row: ProviderRow): TaskRequest {
  if (Object.keys(params).length === 0) return request;
  refuseSealed(params, new Set(row.sealedParams ?? []), ["body", "provider_params"]);
  const { body, paramsPath = [] } = request;
  switch (body?.kind) {
    case "json":
      return { ...request, body: { ...body, value: mergeAt(body.value, paramsPath, params) } };
    case "form": {
      const [field] = paramsPath;
      if (typeof field === "string")
        return { ...request, body: { ...body, parts: mergeField(body.parts, field, params) } };
      return { ...request, body: { ...body, parts: mergeParts(body.parts, toFields(params)) } };
    }
    case "fields":
      return { ...request, body: { ...body, fields: { ...body.fields, ...toFields(params) } } };
    default:
      return { ...request, query: { ...request.query, ...toFields(params) } };
  }
}

function refuseSealed(value: unknown, sealed: ReadonlySet<string>, loc: Problem["loc"]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const place = [...loc, Array.isArray(value) ? Number(name) : name];
    if (sealed.has(name))
      throw new ValidationError([{ loc: place, msg: "This member cannot be overridden", type: "value_error" }]);
    refuseSealed(member, sealed, place);
  }
}

function mergeAt(value: unknown, [step, ...path]: readonly (string | number)[], params: JsonObject): unknown {
  if (step === undefined) return merge(value, params);
  if (Array.isArray(value)) return value.map((one, index) => (index === step ? mergeAt(one, path, params) : one));
  const members = isPlain(value) ? value : {};
  return { ...members, [step]: mergeAt(members[step], path, params) };
}

/** Objects are merged member by member; anything else is replaced. */
function merge(own: unknown, params: unknown): unknown {
  if (!isPlain(own) || !isPlain(params)) return params;
  const changed = Object.entries(params).map(([name, value]) => [
    name,
    Object.hasOwn(own, name) ? merge(own[name], value) : value,
  ]);
  // From entries, so that a member called `__proto__` stays a member.
  return Object.fromEntries([...Object.entries(own), ...changed]);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type FormParts = Extract<TaskRequestBody, { kind: "form" }>["parts"];

/** A field that is named takes the place of ours; a file never goes. */
function mergeParts(parts: FormParts, fields: Readonly<Record<string, string>>): FormParts {
  const kept = parts.filter((part) => "bytes" in part || !Object.hasOwn(fields, part.name));
  const files = new Set(kept.flatMap((part) => ("bytes" in part ? [part.name] : [])));
  const added = Object.entries(fields).filter(([name]) => !files.has(name));
  return [...kept, ...added.map(([name, value]) => ({ name, value }))];
}

/** Into the JSON of one field. */
function mergeField(parts: FormParts, field: string, params: JsonObject): FormParts {
  return parts.map((part) =>
    "bytes" in part || part.name !== field
      ? part
      : { name: field, value: JSON.stringify(merge(JSON.parse(part.value), params)) },
  );
}

function toFields(params: JsonObject): Record<string, string> {
  const fields = Object.entries(params).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]),
  );
}
