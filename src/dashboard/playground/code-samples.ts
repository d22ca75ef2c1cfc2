// A request as programs that send it: curl, TypeScript and Python. They run as pasted once SWITCHYARD_KEY is set, without any package.

export interface CopiedRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly json?: unknown;
  readonly multipart?: readonly CopiedField[] | undefined;
  /** The answer is bytes, which are written to a file of this name. */
  readonly saveAs?: string | undefined;
}

/** A file is read from the folder in which the program runs. */
export type CopiedField =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly type?: string | undefined };

/** A program with several requests writes itself. */
export interface CopiedProgram {
  readonly write: (language: SampleLanguage, origin: string) => string;
}

export type SampleLanguage = "curl" | "typescript" | "python";

export function toCodeSample(language: SampleLanguage, request: CopiedRequest | CopiedProgram, origin: string): string {
  if ("write" in request) return request.write(language, origin);
  return writers[language](request, origin + request.path);
}

const writers: Readonly<Record<SampleLanguage, (request: CopiedRequest, url: string) => string>> = {
  curl: toCurl,
  typescript: toTypeScript,
  python: toPython,
};

/** What the programs print of a stream: the text of the answer. */
const streamedTexts: ReadonlyMap<string, { readonly typescript: string; readonly python: string }> = new Map([
  [
    "/v3/chat/completions",
    {
      typescript: 'event.choices?.[0]?.delta?.content ?? ""',
      python: '(event.get("choices") or [{}])[0].get("delta", {}).get("content") or ""',
    },
  ],
  [
    "/v3/responses",
    {
      typescript: 'event.type === "response.output_text.delta" ? event.delta : ""',
      python: 'event["delta"] if event.get("type") == "response.output_text.delta" else ""',
    },
  ],
]);

function isStream({ json }: CopiedRequest): boolean {
  return typeof json === "object" && json !== null && "stream" in json && json.stream === true;
}

function toCurl(request: CopiedRequest, url: string): string {
  const { method, json, multipart, saveAs } = request;
  const hasBody = json !== undefined || multipart !== undefined;
  // What curl does by itself is not stated.
  const stated = method === "GET" || (method === "POST" && hasBody) ? "" : ` -X ${method}`;
  const options = [
    `curl -sS${isStream(request) ? "N" : ""}${stated} ${quoteForShell(url)}`,
    '  -H "Authorization: Bearer $SWITCHYARD_KEY"',
  ];
  if (saveAs !== undefined) options.push(`  -o ${quoteForShell(saveAs)}`);
  for (const field of multipart ?? []) options.push(`  ${toCurlField(field)}`);
  if (json === undefined) return withNote("#", options.join(" \\\n"));
  // From a document in the script: the arguments of a command are limited in size, and an image is larger.
  options.push('  -H "Content-Type: application/json"', "  --data-binary @- <<'JSON'");
  return withNote("#", `${options.join(" \\\n")}\n${JSON.stringify(json, null, 2)}\nJSON`);
}

function toCurlField(field: CopiedField): string {
  if ("value" in field) return `--form-string ${quoteForShell(`${field.name}=${field.value}`)}`;
  // In quotes, a name may hold the characters with which curl separates its options.
  const file = `"${field.fileName.replace(/[\\"]/g, "\\$&")}"`;
  return `-F ${quoteForShell(`${field.name}=@${file}${field.type === undefined ? "" : `;type=${field.type}`}`)}`;
}

function quoteForShell(text: string): string {
  return /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function withNote(comment: "#" | "//", code: string): string {
  return `${comment} Set the environment variable SWITCHYARD_KEY to an inference key (sk-sy-…) first.\n${code}\n`;
}

function toTypeScript(request: CopiedRequest, url: string): string {
  const { method, path, json, multipart, saveAs } = request;
  const lines: string[] = [];
  const files = multipart?.some((field) => "fileName" in field) === true;
  const imports = [...(files ? ["readFile"] : []), ...(saveAs !== undefined ? ["writeFile"] : [])];
  if (imports.length > 0) lines.push(`import { ${imports.join(", ")} } from "node:fs/promises";`, "");
  if (multipart !== undefined) {
    lines.push("const form = new FormData();");
    for (const field of multipart) lines.push(toTypeScriptField(field));
    lines.push("");
  }
  lines.push(
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    "  headers: {",
    "    Authorization: `Bearer ${process.env.SWITCHYARD_KEY}`,",
    ...(json === undefined ? [] : ['    "Content-Type": "application/json",']),
    "  },",
    ...(multipart === undefined ? [] : ["  body: form,"]),
    ...(json === undefined ? [] : [`  body: JSON.stringify(${indent(toScriptLiteral(json), "  ")}),`]),
    "});",
    "if (!response.ok) throw new Error(await response.text());",
  );
  if (saveAs !== undefined)
    lines.push(`await writeFile(${JSON.stringify(saveAs)}, Buffer.from(await response.arrayBuffer()));`);
  else if (isStream(request))
    lines.push(
      'let rest = "";',
      "for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {",
      '  const lines = (rest + part).split("\\n");',
      '  rest = lines.pop() ?? "";',
      "  for (const line of lines) {",
      '    if (!line.startsWith("data: ") || line === "data: [DONE]") continue;',
      "    const event = JSON.parse(line.slice(6));",
      "    if (event.error) throw new Error(event.error.message);",
      `    process.stdout.write(${streamedTexts.get(path)?.typescript ?? "`${line}\\n`"});`,
      "  }",
      "}",
      "console.log();",
    );
  else lines.push("console.log(JSON.stringify(await response.json(), null, 2));");
  return withNote("//", lines.join("\n"));
}

function toTypeScriptField(field: CopiedField): string {
  const name = JSON.stringify(field.name);
  if ("value" in field) return `form.append(${name}, ${JSON.stringify(field.value)});`;
  const file = JSON.stringify(field.fileName);
  const options = field.type === undefined ? "" : `, { type: ${JSON.stringify(field.type)} }`;
  return `form.append(${name}, new Blob([await readFile(${file})]${options}), ${file});`;
}

/** JSON is JavaScript, but for this name, which would set the prototype of the object. */
function toScriptLiteral(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll('"__proto__":', '["__proto__"]:');
}

function indent(text: string, by: string): string {
  return text.replaceAll("\n", `\n${by}`);
}

function toPython(request: CopiedRequest, url: string): string {
  const { method, path, json, multipart, saveAs } = request;
  const imported = [
    ...(json !== undefined || saveAs === undefined ? ["json"] : []),
    "os",
    "sys",
    "urllib.error",
    "urllib.request",
  ];
  const lines = [
    `import ${imported.join(", ")}`,
    "",
    'headers = {"Authorization": "Bearer " + os.environ["SWITCHYARD_KEY"]}',
  ];
  if (json !== undefined)
    lines.push(`body = json.dumps(${toPythonLiteral(json)}).encode()`, 'headers["Content-Type"] = "application/json"');
  else if (multipart !== undefined) lines.push(...toPythonForm(multipart));
  else lines.push("body = None");
  lines.push(
    `request = urllib.request.Request(${JSON.stringify(url)}, data=body, headers=headers, method=${JSON.stringify(method)})`,
    "try:",
    "    response = urllib.request.urlopen(request)",
    "except urllib.error.HTTPError as error:",
    "    sys.exit(error.read().decode())",
    "with response:",
  );
  if (saveAs !== undefined)
    lines.push(`    with open(${JSON.stringify(saveAs)}, "wb") as file:`, "        file.write(response.read())");
  else if (isStream(request))
    lines.push(
      "    for line in response:",
      '        if not line.startswith(b"data: ") or line.strip() == b"data: [DONE]":',
      "            continue",
      "        event = json.loads(line[6:])",
      '        if "error" in event and event["error"]:',
      '            sys.exit(event["error"]["message"])',
      `        print(${streamedTexts.get(path)?.python ?? "event"}, end=${streamedTexts.get(path) === undefined ? '"\\n"' : '""'}, flush=True)`,
      "print()",
    );
  else lines.push("    print(json.dumps(json.load(response), indent=2, ensure_ascii=False))");
  return withNote("#", lines.join("\n"));
}

function toPythonForm(fields: readonly CopiedField[]): string[] {
  const lines = ['boundary = "switchyard-" + os.urandom(16).hex()', "parts = []"];
  for (const field of fields) {
    const head = `Content-Disposition: form-data; name="${escapeHeader(field.name)}"`;
    if ("value" in field)
      lines.push(`parts.append((${JSON.stringify(head)}, ${JSON.stringify(field.value)}.encode()))`);
    else {
      const type = `Content-Type: ${field.type ?? "application/octet-stream"}`;
      const fileHead = `${head}; filename="${escapeHeader(field.fileName)}"\r\n${type}`;
      lines.push(
        `with open(${JSON.stringify(field.fileName)}, "rb") as file:`,
        `    parts.append((${JSON.stringify(fileHead)}, file.read()))`,
      );
    }
  }
  lines.push(
    'body = b"".join(b"--%s\\r\\n%s\\r\\n\\r\\n%s\\r\\n" % (boundary.encode(), head.encode(), data) for head, data in parts)',
    'body += b"--%s--\\r\\n" % boundary.encode()',
    'headers["Content-Type"] = "multipart/form-data; boundary=" + boundary',
  );
  return lines;
}

/** As browsers escape the names of fields and files. */
function escapeHeader(text: string): string {
  return text.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

const pythonNames = new Map<unknown, string>([
  [null, "None"],
  [undefined, "None"],
  [true, "True"],
  [false, "False"],
]);

/** The escapes of JSON strings mean the same in Python. */
function toPythonLiteral(value: unknown, by = ""): string {
  const name = pythonNames.get(value);
  if (name !== undefined) return name;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${by}    `;
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => toPythonLiteral(item, inner))]
    : [
        "{",
        "}",
        Object.entries(value)
          .filter(([, member]) => member !== undefined)
          .map(([key, member]) => `${JSON.stringify(key)}: ${toPythonLiteral(member, inner)}`),
      ];
  return items.length === 0
    ? open + close
    : `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${by}${close}`;
}
