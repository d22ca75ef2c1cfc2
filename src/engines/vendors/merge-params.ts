// Merges `provider_params` of the caller into a provider's request. They may add and change members, except those that would reach data of
// others, and those that carry the model or the billed quantity.

import { type Problem, ValidationError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";
import type { ProviderRow } from "../../providers/provider.ts";
import type { FormPart, ProviderTask, TaskRequest, TaskRequestBody } from "../../providers/task.ts";

export interface ParamRules {
  readonly row: Pick<ProviderRow, "sealedParams" | "billedParams">;
  readonly task: Pick<ProviderTask, "billedParams">;
}

export function mergeParams(request: TaskRequest, params: JsonObject, { row, task }: ParamRules): TaskRequest {
  if (Object.keys(params).length === 0) return request;
  const refused = [row.sealedParams, row.billedParams, task.billedParams].flatMap((names = []) =>
    names.map(toPlainName),
  );
  refuseSealed(params, new Set(refused), ["body", "provider_params"]);
  const { body, paramsPath = [] } = request;
  const [field] = paramsPath;
  switch (body?.kind) {
    case "json":
      return { ...request, body: { ...body, value: mergeAt(body.value, paramsPath, params) } };
    case "form":
      if (typeof field === "string")
        return { ...request, body: { ...body, parts: mergeIntoField(body.parts, field, params) } };
      return { ...request, body: mergeFields(body, toFields(params)) };
    case "fields":
      return { ...request, body: mergeFields(body, toFields(params)) };
    default:
      return { ...request, query: { ...request.query, ...toFields(params) } };
  }
}

/** Replaces fields of the same name, but never a file. */
export function mergeFields(
  body: Extract<TaskRequestBody, { kind: "form" | "fields" }>,
  fields: Readonly<Record<string, string>>,
): TaskRequestBody {
  if (body.kind === "fields") return { ...body, fields: { ...body.fields, ...fields } };
  const unchanged = body.parts.filter((part) => "bytes" in part || !Object.hasOwn(fields, part.name));
  const files = new Set(unchanged.flatMap((part) => ("bytes" in part ? [part.name] : [])));
  const added = Object.entries(fields).filter(([name]) => !files.has(name));
  return { ...body, parts: [...unchanged, ...added.map(([name, value]) => ({ name, value }))] };
}

function refuseSealed(value: unknown, sealed: ReadonlySet<string>, loc: Problem["loc"]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const memberLoc = [...loc, Array.isArray(value) ? Number(name) : name];
    if (sealed.has(toPlainName(name)))
      throw new ValidationError([{ loc: memberLoc, msg: "This member cannot be overridden", type: "value_error" }]);
    refuseSealed(member, sealed, memberLoc);
  }
}

/** Google takes `gcs_content_uri` for `gcsContentUri`, Microsoft ignores case, and forms may write `model[]`. */
function toPlainName(name: string): string {
  return name.replaceAll(/[^a-z0-9]/gi, "").toLowerCase();
}

function mergeAt(value: unknown, [step, ...path]: readonly (string | number)[], params: JsonObject): unknown {
  if (step === undefined) return merge(value, params);
  if (Array.isArray(value)) return value.map((one, index) => (index === step ? mergeAt(one, path, params) : one));
  const members = isObject(value) ? value : {};
  return { ...members, [step]: mergeAt(members[step], path, params) };
}

/** Objects are merged member by member; anything else is replaced. */
function merge(own: unknown, params: unknown): unknown {
  if (!isObject(own) || !isObject(params)) return params;
  const changed = Object.entries(params).map(([name, value]) => [
    name,
    Object.hasOwn(own, name) ? merge(own[name], value) : value,
  ]);
  // From entries, so that a member called `__proto__` stays a member.
  return Object.fromEntries([...Object.entries(own), ...changed]);
}

/** Merges into the JSON text of one field. */
function mergeIntoField(parts: readonly FormPart[], field: string, params: JsonObject): FormPart[] {
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
