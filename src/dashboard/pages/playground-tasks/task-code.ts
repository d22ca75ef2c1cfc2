// A task with files, or one that runs as a job, as a program in several steps. It runs as pasted, without any package.

import type { SampleLanguage } from "../../playground/code-samples.ts";

export interface TaskRequest {
  /** `<feature>/<subfeature>` */
  readonly task: string;
  readonly model: string;
  readonly isJob: boolean;
  /** May contain files at any depth. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Whether the provider's own answer is wanted too. */
  readonly showsOriginal?: boolean;
}

/** What is sent. */
export function toBody({ model, input, showsOriginal = false }: TaskRequest) {
  return { model, input, ...(showsOriginal && { show_original_response: true }) };
}

export function toTaskCode(language: SampleLanguage, request: TaskRequest, origin: string): string {
  const comment = language === "typescript" ? "//" : "#";
  const note = `${comment} Set the environment variable SWITCHYARD_KEY to an inference key (sk-sy-…) first.`;
  const files = filesIn(request.input).map(({ name }) => name);
  const place = files.length === 0 ? [] : [`${comment} Run it in the folder of ${files.map(toLine).join(", ")}.`];
  return [note, ...place, writers[language](request, origin), ""].join("\n");
}

const writers: Readonly<Record<SampleLanguage, (request: TaskRequest, origin: string) => string>> = {
  curl: toCurl,
  typescript: toTypeScript,
  python: toPython,
};

export function filesIn(value: unknown): File[] {
  if (value instanceof File) return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(filesIn) : [];
}

/** A name must not end the comment in which it stands. */
function toLine(name: string): string {
  return name.replaceAll(/[\r\n\u2028\u2029]/g, " ");
}

function pathOf({ isJob }: TaskRequest): string {
  return isJob ? "/v3/universal-ai/async" : "/v3/universal-ai";
}

const authorization = '-H "Authorization: Bearer $SWITCHYARD_KEY"';

function toCurl(request: TaskRequest, origin: string): string {
  const files = [...new Set(filesIn(request.input))];
  const lines = files.map((file, index) => {
    const part = `file=@"${file.name.replaceAll(/[\\"]/g, "\\$&")}"`;
    const upload = `curl -sS ${origin}/v3/upload ${authorization} -F ${quoteForShell(part)}`;
    return `FILE_${index + 1}=$(${upload} | ${toMember("file_id")})`;
  });
  const body = toBody(request);
  // The shell replaces the names of files in the document, so everything else that it would replace is escaped.
  const json = JSON.stringify(
    body,
    (_, value: unknown) => (value instanceof File ? `\u0000${files.indexOf(value) + 1}\u0000` : value),
    2,
  )
    .replaceAll(/[\\$`]/g, "\\$&")
    .replaceAll(/\\\\u0000(\d+)\\\\u0000/g, "$$FILE_$1");
  const call = [
    `curl -sS ${origin}${pathOf(request)} ${authorization} \\`,
    `  -H "Content-Type: application/json" --data-binary @- <<JSON`,
  ];
  if (!request.isJob) return [...lines, ...call, json, "JSON"].join("\n");
  return [
    ...lines,
    `JOB_ID=$(${call[0]}`,
    `${call[1]} | ${toMember("job_id")}`,
    json,
    "JSON",
    ")",
    "while true; do",
    `  JOB=$(curl -sS "${origin}${pathOf(request)}/$JOB_ID" ${authorization})`,
    `  case "$JOB" in *'"status":"processing"'*) sleep 1 ;; *) break ;; esac`,
    "done",
    `printf '%s\\n' "$JOB"`,
  ].join("\n");
}

/** The text of a member of a JSON answer, without further programs. */
function toMember(name: string): string {
  return `sed -n 's/.*"${name}" *: *"\\([^"]*\\)".*/\\1/p'`;
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function toTypeScript(request: TaskRequest, origin: string): string {
  const hasFiles = filesIn(request.input).length > 0;
  const literal = toLiteral(toBody(request), scriptWords, "  ");
  const answer = request.isJob ? "let" : "const";
  return [
    ...(hasFiles ? ['import { readFile } from "node:fs/promises";', ""] : []),
    "async function call(path: string, init: RequestInit = {}) {",
    "  const headers = { Authorization: `Bearer ${process.env.SWITCHYARD_KEY}`, ...init.headers };",
    `  const response = await fetch(${JSON.stringify(origin)} + path, { ...init, headers });`,
    "  if (!response.ok) throw new Error(await response.text());",
    "  return response.json();",
    "}",
    "",
    ...(hasFiles
      ? [
          "async function upload(name: string): Promise<string> {",
          "  const form = new FormData();",
          '  form.append("file", new Blob([await readFile(name)]), name);',
          '  return (await call("/v3/upload", { method: "POST", body: form })).file_id;',
          "}",
          "",
        ]
      : []),
    `${answer} answer = await call(${JSON.stringify(pathOf(request))}, {`,
    '  method: "POST",',
    '  headers: { "Content-Type": "application/json" },',
    `  body: JSON.stringify(${literal}),`,
    "});",
    ...(request.isJob
      ? [
          'while (answer.status === "processing") {',
          "  await new Promise((resolve) => setTimeout(resolve, 1_000));",
          `  answer = await call(\`${pathOf(request)}/\${answer.job_id}\`);`,
          "}",
        ]
      : []),
    "console.log(JSON.stringify(answer, null, 2));",
  ].join("\n");
}

function toPython(request: TaskRequest, origin: string): string {
  const hasFiles = filesIn(request.input).length > 0;
  const literal = toLiteral(toBody(request), pythonWords, "");
  return [
    `import json, os, sys, ${request.isJob ? "time, " : ""}urllib.error, urllib.request`,
    "",
    'def call(path, body=None, content_type="application/json"):',
    '    headers = {"Authorization": "Bearer " + os.environ["SWITCHYARD_KEY"], "Content-Type": content_type}',
    `    request = urllib.request.Request(${JSON.stringify(origin)} + path, data=body, headers=headers)`,
    "    try:",
    "        with urllib.request.urlopen(request) as response:",
    "            return json.load(response)",
    "    except urllib.error.HTTPError as error:",
    "        sys.exit(error.read().decode())",
    "",
    ...(hasFiles
      ? [
          "def upload(name):",
          '    boundary = "switchyard-" + os.urandom(16).hex()',
          '    with open(name, "rb") as file:',
          "        content = file.read()",
          '    shown = name.replace(\'"\', "%22")',
          '    head = f\'--{boundary}\\r\\nContent-Disposition: form-data; name="file"; filename="{shown}"\\r\\n\\r\\n\'',
          '    body = head.encode() + content + f"\\r\\n--{boundary}--\\r\\n".encode()',
          '    return call("/v3/upload", body, "multipart/form-data; boundary=" + boundary)["file_id"]',
          "",
        ]
      : []),
    `answer = call(${JSON.stringify(pathOf(request))}, json.dumps(${literal}).encode())`,
    ...(request.isJob
      ? [
          'while answer["status"] == "processing":',
          "    time.sleep(1)",
          `    answer = call(${JSON.stringify(`${pathOf(request)}/`)} + answer["job_id"])`,
        ]
      : []),
    "print(json.dumps(answer, indent=2, ensure_ascii=False))",
  ].join("\n");
}

interface Words {
  readonly null: string;
  readonly true: string;
  readonly false: string;
  readonly upload: string;
}

const scriptWords: Words = { null: "null", true: "true", false: "false", upload: "await upload" };
const pythonWords: Words = { null: "None", true: "True", false: "False", upload: "upload" };

/** The escapes of JSON strings mean the same in both languages. */
function toLiteral(value: unknown, words: Words, by: string): string {
  if (value === null || value === undefined) return words.null;
  if (typeof value === "boolean") return words[`${value}`];
  if (value instanceof File) return `${words.upload}(${JSON.stringify(value.name)})`;
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${by}  `;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((one) => toLiteral(one, words, inner))
    : Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([name, one]) => `${JSON.stringify(name)}: ${toLiteral(one, words, inner)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return items.length === 0
    ? open + close
    : `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${by}${close}`;
}
