// Every example of the API reference works as written: the commands in a shell, the TypeScript programs with Bun, the Python programs with
// Python where it has the package `requests`.

import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toSamples } from "../../src/http/openapi/samples.ts";
import type { Route } from "../../src/http/route.ts";
import { listAllRoutes } from "../support/all-routes.ts";
import { runProgram } from "../support/run-program.ts";
import { toSilence } from "../support/silence.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

/** Operations whose examples are checked for their syntax only, and why. */
const notRun: Readonly<Record<string, string>> = {
  addFaces: "it fetches a picture from another machine",
  deleteFace: "there is no face without the operation above",
  cancelResponse: "it needs a provider that runs responses in the background",
  redeliver: "it needs a receiver with a certificate",
  redeliverAnyJob: "it needs a receiver with a certificate",
  signIn: "it needs the key of a person",
  retrieveSession: "it needs the cookie of a browser",
  signOut: "it needs the cookie of a browser",
  endSession: "it needs the session of a browser",
  startOidcSignIn: "it needs an OpenID provider",
  finishOidcSignIn: "it needs an OpenID provider",
};

const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-samples-"));
copyFileSync(join(root, "examples/tasks/ocr/invoice.pdf"), join(folder, "document.pdf"));
writeFileSync(join(folder, "recording.wav"), toSilence({ rate: 16_000 }));

// Answers in the documented format of OpenAI's compaction, with invented contents. A chat completion is never answered, so that a job that
// waits for it can be cancelled.
const vendor = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url }) {
    if (url.endsWith("/chat/completions")) return new Promise<Response>(() => {});
    return Response.json({
      id: "resp_1",
      object: "response.compaction",
      created_at: 1,
      output: [],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    });
  },
});
const gateway = await sharedGateway({
  jobWorkers: 1,
  env: {
    OPENAI_API_KEY: "k-1",
    OPENAI_BASE_URL: `http://127.0.0.1:${vendor.port}`,
    SWITCHYARD_ENCRYPTION_KEY: btoa("0123456789abcdef".repeat(2)),
  },
});
const key = await gateway.createKey();
const hasRequests = Bun.spawnSync(["python3", "-c", "import requests"]).success;

afterAll(async () => {
  await vendor.stop(true);
  rmSync(folder, { recursive: true });
});

async function call<Answer>(path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": "sample-request" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

const task = { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } };
const chat = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] };

/** A new object for each example, because some of them delete it. */
const makers: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
  async KEY_ID() {
    const { id } = (await gateway.manage("POST", "/keys", { name: "sample" })) as { id: string };
    return { KEY_ID: id };
  },
  async JOB_ID() {
    const { job_id } = await call<{ job_id: string }>("/v3/universal-ai/async", task);
    const isDone = async () =>
      (await call<{ status: string }>(`/v3/universal-ai/async/${job_id}`)).status !== "processing";
    await waitFor("the job to end", isDone);
    return { JOB_ID: job_id };
  },
  async COLLECTION_ID() {
    const collection = { provider: "local", name: "Staff" };
    const made = await call<{ collection_id: string }>("/v3/universal-ai/collections", collection);
    return { COLLECTION_ID: made.collection_id };
  },
  async RESPONSE_ID() {
    const { id } = await call<{ id: string }>("/v3/responses", { model: "sandbox/echo", input: "Hello" });
    return { RESPONSE_ID: id };
  },
  async FILE_ID() {
    const form = new FormData();
    form.append("file", Bun.file(join(folder, "document.pdf")), "document.pdf");
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
    return { FILE_ID: ((await response.json()) as { file_id: string }).file_id };
  },
  async REQUEST_ID() {
    await call("/v3/chat/completions", chat);
    const isStored = () =>
      gateway.manage("GET", "/requests/sample-request").then(
        () => true,
        () => false,
      );
    await waitFor("the line of the ledger", isStored);
    return { REQUEST_ID: "sample-request" };
  },
  async RESOURCE_ID() {
    const speech = { model: "audio/tts/local", input: { text: "Hello" } };
    const { output } = await call<{ output: { audio_resource_url: string } }>("/v3/universal-ai", speech);
    const { pathname, searchParams } = new URL(output.audio_resource_url);
    return {
      RESOURCE_ID: pathname.split("/").at(-1) ?? "",
      EXPIRES: searchParams.get("expires") ?? "",
      SIGNATURE: searchParams.get("signature") ?? "",
    };
  },
};

/** Operations that need something else than a variable. */
const preparations: Readonly<Record<string, () => Promise<Record<string, string> | undefined>>> = {
  cancelJob: startEndlessJob,
  cancelAnyJob: startEndlessJob,
  rotateProvider: storeCredentials,
  removeProviderCredentials: storeCredentials,
  createTeam: removeTeam,
  retrieveTeam: addTeam,
  updateTeam: addTeam,
  deleteTeam: addTeam,
};

async function startEndlessJob(): Promise<Record<string, string>> {
  const { job_id } = await call<{ job_id: string }>("/v3/universal-ai/async", {
    ...task,
    model: "text/sentiment_analysis/openai/gpt-5",
  });
  return { JOB_ID: job_id };
}

async function storeCredentials(): Promise<undefined> {
  await gateway.manage("PUT", "/providers/openai", { api_key: "sk-example-key-of-the-provider" });
}

async function addTeam(): Promise<undefined> {
  await removeTeam();
  await gateway.manage("POST", "/teams", { name: "research" });
}

async function removeTeam(): Promise<undefined> {
  await gateway.manage("DELETE", "/teams/research").catch(() => {});
}

async function prepare(route: Route, source: string): Promise<Record<string, string>> {
  const prepared = (await preparations[route.id]?.()) ?? {};
  const missing = Object.entries(makers).filter(([name]) => source.includes(name) && prepared[name] === undefined);
  return Object.assign(prepared, ...(await Promise.all(missing.map(([, make]) => make()))));
}

type Language = "Shell" | "TypeScript" | "Python";

function environment(variables: Readonly<Record<string, string>>): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    SWITCHYARD_URL: gateway.url,
    SWITCHYARD_KEY: key,
    SWITCHYARD_MANAGEMENT_KEY: gateway.adminKey,
    ...variables,
  };
}

async function runShell(source: string, variables: Readonly<Record<string, string>> | null): Promise<string | null> {
  // A refused request has to fail the command.
  const strict = source.replace(/^curl /, "curl --fail-with-body --max-time 60 ");
  const command = ["sh", ...(variables === null ? ["-n"] : []), "-e", "-u", "-c", strict];
  const { code, out, errors } = await runProgram(command, { cwd: folder, env: environment(variables ?? {}) });
  return code === 0 ? null : `${out}${errors}`;
}

/** Runs one program after the other in the same process, because starting one takes longer than most of them. */
function startInterpreter(command: readonly string[]): Interpreter {
  const child = Bun.spawn([...command], { cwd: folder, stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const outcomes = readLines(child.stdout);
  return {
    async run(source, variables) {
      child.stdin.write(
        `${JSON.stringify({ source, isRun: variables !== null, env: environment(variables ?? {}) })}\n`,
      );
      await child.stdin.flush();
      const { value } = await outcomes.next();
      return (JSON.parse(value ?? '{ "error": "the interpreter ended" }') as { error: string | null }).error;
    },
    async stop() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

interface Interpreter {
  /** `variables`: null when only the syntax is checked. Resolves with the error of the program, or with null after success. */
  run(source: string, variables: Readonly<Record<string, string>> | null): Promise<string | null>;
  stop(): Promise<void>;
}

async function* readLines(output: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of output) {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

const typeScript = startInterpreter([process.execPath, join(import.meta.dir, "../support/sample-interpreter.ts")]);
const python = startInterpreter(["python3", join(import.meta.dir, "../support/sample-interpreter.py")]);
afterAll(async () => {
  await Promise.all([typeScript.stop(), python.stop()]);
});

function runSample(language: Language, source: string, variables: Readonly<Record<string, string>> | null) {
  if (language === "Shell") return runShell(source, variables);
  if (language === "TypeScript") return typeScript.run(source, variables);
  return python.run(source, hasRequests ? variables : null);
}

const routes = listAllRoutes();

describe.each(["Shell", "TypeScript", "Python"] as const)("in %s", (language) => {
  test.each(
    routes.map((route): [string, Route] => [route.id, route]),
  )("the example of %s works as written", async (id, route) => {
    const source = toSamples(route).find(({ lang }) => lang === language)?.source ?? "";
    const variables = notRun[id] === undefined ? await prepare(route, source) : null;
    expect([source, await runSample(language, source, variables)]).toEqual([source, null]);
  });
});

test("what is not run is still an operation", () => {
  const ids = routes.map(({ id }) => id);
  for (const id of [...Object.keys(notRun), ...Object.keys(preparations)]) expect(ids).toContain(id);
});
