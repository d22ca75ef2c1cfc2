// Runs every request of examples/tasks against a gateway: node bin/bun.mjs run examples/try-all.ts <address> <key> [part of a name]
// A text of a request that begins with @ names a file beside it, which is uploaded first.

import { dirname, join, relative } from "node:path";

export interface Example {
  /** `ocr/invoice.json` */
  readonly name: string;
  readonly request: { readonly model: string; readonly input: Readonly<Record<string, unknown>> };
}

export interface Tried {
  readonly status: number;
  readonly milliseconds: number;
  /** What the task put out; null when it failed. */
  readonly output: unknown;
  /** Why it failed. */
  readonly message: string | null;
}

interface Target {
  readonly url: string;
  readonly key: string;
}

const folder = join(import.meta.dir, "tasks");
const longestMs = 240_000;
const askAgainMs = 250;

export async function listExamples(): Promise<Example[]> {
  const names = [...new Bun.Glob("**/*.json").scanSync(folder)].sort();
  return Promise.all(names.map(async (name) => ({ name, request: await Bun.file(join(folder, name)).json() })));
}

export async function tryExample(target: Target, { name, request }: Example): Promise<Tried> {
  const input = await withUploads(target, dirname(join(folder, name)), request.input);
  const startedAt = performance.now();
  const isJob = request.model.split("/")[1]?.endsWith("_async") === true;
  const body = JSON.stringify({ ...request, input });
  const answered = await call(target, `/v3/universal-ai${isJob ? "/async" : ""}`, body);
  const { status, answer } = answered.status === 202 ? await waitForJob(target, answered.answer.job_id) : answered;
  const message = answer.error?.message ?? null;
  return { status, milliseconds: performance.now() - startedAt, output: answer.output ?? null, message };
}

interface Answer {
  readonly output?: unknown;
  readonly error?: { readonly message: string } | null;
  readonly status?: string;
  readonly job_id?: string;
  readonly file_id?: string;
}

async function call({ url, key }: Target, path: string, body?: string | FormData) {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      ...(typeof body === "string" && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(longestMs),
  });
  return { status: response.status, answer: (await response.json()) as Answer };
}

async function waitForJob(target: Target, id: string | undefined) {
  const until = performance.now() + longestMs;
  while (performance.now() < until) {
    const { status, answer } = await call(target, `/v3/universal-ai/async/${id}`);
    if (status !== 200 || answer.status !== "processing") return { status, answer };
    await Bun.sleep(askAgainMs);
  }
  throw new Error(`The job ${id} did not end in time.`);
}

async function withUploads(target: Target, beside: string, input: Example["request"]["input"]) {
  const members = Object.entries(input).map(async ([name, value]) => {
    if (typeof value !== "string" || !value.startsWith("@")) return [name, value];
    const form = new FormData();
    const path = join(beside, value.slice(1));
    form.set("file", Bun.file(path), relative(beside, path));
    const { status, answer } = await call(target, "/v3/upload", form);
    if (answer.file_id === undefined) throw new Error(`${value} could not be uploaded: ${status}`);
    return [name, answer.file_id];
  });
  return Object.fromEntries(await Promise.all(members)) as Example["request"]["input"];
}

if (import.meta.main) {
  const [url = "", key = "", part = ""] = process.argv.slice(2);
  if (key === "") {
    console.error("node bin/bun.mjs run examples/try-all.ts <address> <key> [part of a name]");
    process.exit(2);
  }
  let failures = 0;
  for (const example of (await listExamples()).filter(({ name }) => name.includes(part))) {
    const { milliseconds, message } = await tryExample({ url, key }, example);
    const { model } = example.request;
    const outcome = message === null ? "ok" : `failed: ${message}`;
    if (message !== null) failures += 1;
    console.log(`${model.padEnd(36)} ${String(Math.round(milliseconds)).padStart(6)} ms  ${outcome}`);
  }
  if (failures > 0) process.exitCode = 1;
}
