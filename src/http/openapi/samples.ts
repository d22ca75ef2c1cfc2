// The examples of the API reference: each operation as a curl command, a TypeScript program and a Python program. They work as pasted once
// the variables that docs/api.md names are set, and the sandbox answers them.

import type { Route } from "../route.ts";
import { toOpenApiPath } from "./openapi-path.ts";

export interface CodeSample {
  readonly lang: "Shell" | "TypeScript" | "Python";
  readonly label: string;
  readonly source: string;
}

export function toSamples(route: Route): CodeSample[] {
  return [
    { lang: "Shell", label: "curl", source: toCurl(route) },
    { lang: "TypeScript", label: "TypeScript", source: toTypeScript(route) },
    { lang: "Python", label: "Python", source: toPython(route) },
  ];
}

const keyVariables = { none: null, inference: "SWITCHYARD_KEY", management: "SWITCHYARD_MANAGEMENT_KEY" } as const;

export function toCurl({ method, path, key, example = {} }: Route): string {
  const impliedMethod = example.body === undefined && example.form === undefined ? "GET" : "POST";
  const option = method === impliedMethod ? "" : ` -X ${method}`;
  const lines = [`curl -sS${option} "$SWITCHYARD_URL${toFilledPath(path, example)}"`];
  const variable = keyVariables[key];
  if (variable !== null) lines.push(`-H "Authorization: Bearer $${variable}"`);
  for (const part of example.form ?? []) lines.push(`-F "${part}"`);
  if (example.body !== undefined)
    lines.push('-H "Content-Type: application/json"', `-d '${toLines(example.body, "  ", "json")}'`);
  if (example.output !== undefined) lines.push(`-o ${example.output}`);
  return lines.join(" \\\n  ");
}

function toFilledPath(path: string, { path: values, query }: NonNullable<Route["example"]>): string {
  const filled = toOpenApiPath(path).replace(/\{(\w+)\}/g, (_, name: string) => values?.[name] ?? name);
  return query === undefined ? filled : `${filled}?${query}`;
}

function toTypeScript({ method, path, key, example = {} }: Route): string {
  const filled = toFilledPath(path, example);
  const variable = keyVariables[key];
  const names = ["SWITCHYARD_URL", ...(variable === null ? [] : [variable]), ...variablesOf(filled)];
  const imports = [
    ...(example.output === undefined ? [] : ['import { writeFile } from "node:fs/promises";']),
    ...(filesOf(example.form).length > 0 ? ['import { openAsBlob } from "node:fs";'] : []),
    'import { env } from "node:process";',
  ];
  const headers = [
    ...(variable === null ? [] : [`Authorization: \`Bearer \${${variable}}\``]),
    ...(example.body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const members = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(", ")} },`]),
    ...(example.body === undefined ? [] : [`  body: JSON.stringify(${toLines(example.body, "  ", "typescript")}),`]),
    ...(example.form === undefined ? [] : ["  body: form,"]),
  ];
  const url = `\`${filled.replace(/^/, "${SWITCHYARD_URL}").replace(/\$([A-Z]\w*)/g, "${$1}")}\``;
  return [
    ...imports,
    "",
    `const { ${names.join(", ")} } = env;`,
    ...toTypeScriptForm(example.form),
    members.length === 0
      ? `const response = await fetch(${url});`
      : `const response = await fetch(${url}, {\n${members.join("\n")}\n});`,
    "if (!response.ok) throw new Error(await response.text());",
    example.output === undefined
      ? "console.log(await response.text());"
      : `await writeFile("${example.output}", await response.bytes());`,
  ].join("\n");
}

function toTypeScriptForm(form: readonly string[] | undefined): string[] {
  if (form === undefined) return [];
  return [
    "const form = new FormData();",
    ...form.map((part) => {
      const [name, value] = splitPart(part);
      if (!value.startsWith("@")) return `form.append("${name}", "${value}");`;
      const file = value.slice(1);
      return `form.append("${name}", await openAsBlob("${file}"), "${file}");`;
    }),
  ];
}

function toPython({ method, path, key, example = {} }: Route): string {
  const filled = toFilledPath(path, example);
  const variable = keyVariables[key];
  const files = filesOf(example.form);
  const fields = (example.form ?? []).map(splitPart).filter(([, value]) => !value.startsWith("@"));
  const members = [
    `    ${toPythonUrl(filled)},`,
    ...(variable === null ? [] : [`    headers={"Authorization": "Bearer " + os.environ["${variable}"]},`]),
    ...(example.body === undefined ? [] : [`    json=${toLines(example.body, "    ", "python")},`]),
    ...(fields.length === 0
      ? []
      : [`    data={${fields.map(([name, value]) => `"${name}": "${value}"`).join(", ")}},`]),
    ...(files.length === 0
      ? []
      : [`    files={${files.map(([name, file]) => `"${name}": open("${file}", "rb")`).join(", ")}},`]),
  ];
  return [
    "import os",
    "import requests",
    "",
    `response = requests.${method.toLowerCase()}(`,
    ...members,
    ")",
    "response.raise_for_status()",
    example.output === undefined ? "print(response.text)" : `open("${example.output}", "wb").write(response.content)`,
  ].join("\n");
}

function toPythonUrl(filled: string): string {
  const parts = filled.split(/\$([A-Z]\w*)/).map((part, index) => {
    if (index % 2 === 1) return `os.environ["${part}"]`;
    return part === "" ? null : `"${part}"`;
  });
  return ['os.environ["SWITCHYARD_URL"]', ...parts.filter((part) => part !== null)].join(" + ");
}

type Language = "json" | "typescript" | "python";

/** An object with each member on a line of its own, and the values of members on one line. */
function toLines(body: object, indent: string, language: Language): string {
  const members = Object.entries(body).map(
    ([name, value]) => `${indent}  ${toKey(name, language)}: ${toInline(value, language)}`,
  );
  if (members.length === 0) return "{}";
  // JSON has no comma after the last member.
  return `{\n${members.join(",\n")}${language === "json" ? "" : ","}\n${indent}}`;
}

const pythonWords = new Map([
  ["true", "True"],
  ["false", "False"],
  ["null", "None"],
]);

function toInline(value: unknown, language: Language): string {
  if (Array.isArray(value)) return `[${value.map((item) => toInline(item, language)).join(", ")}]`;
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value);
    return language === "python" ? (pythonWords.get(text) ?? text) : text;
  }
  const members = Object.entries(value).map(
    ([name, member]) => `${toKey(name, language)}: ${toInline(member, language)}`,
  );
  return `{ ${members.join(", ")} }`;
}

function toKey(name: string, language: Language): string {
  return language === "typescript" && /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function variablesOf(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(/\$([A-Z]\w*)/g), ([, name = ""]) => name))];
}

function filesOf(form: readonly string[] = []): [string, string][] {
  return form
    .map(splitPart)
    .filter(([, value]) => value.startsWith("@"))
    .map(([name, value]) => [name, value.slice(1)]);
}

function splitPart(part: string): [string, string] {
  const at = part.indexOf("=");
  return [part.slice(0, at), part.slice(at + 1)];
}
