// "Copy as": every program that the playground offers is run against a gateway, as a person would paste it.

import { afterAll, expect, test as runTest } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CopiedRequest, type SampleLanguage, toCodeSample } from "../../src/dashboard/playground/code-samples.ts";
import { runProgram } from "../support/run-program.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();
const key = await gateway.createKey();
const folder = await mkdtemp(join(tmpdir(), "switchyard-samples-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const languages: readonly SampleLanguage[] = ["curl", "typescript", "python"];
const commands: Readonly<Record<SampleLanguage, readonly string[]>> = {
  curl: ["sh", "sample.sh"],
  typescript: [process.execPath, "run", "sample.ts"],
  python: ["python3", "sample.py"],
};

/** Every character that a shell, a script or Python could take for something else. */
const awkwardText = `It's "quoted" $HOME \`id\` \\n $(id) !! %s {{x}} \${x}\n'''"""JSON\nJSON\nEOF\t\u0000\u2028 Grüße 🚂`;

async function run(language: SampleLanguage, request: CopiedRequest, environment = { SWITCHYARD_KEY: key }) {
  const command = commands[language];
  await Bun.write(join(folder, command.at(-1) ?? ""), toCodeSample(language, request, gateway.url));
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment };
  const { code, out, errors } = await runProgram(command, { cwd: folder, env });
  return { output: out, errors, exitCode: code };
}

function toMessages(content: string) {
  return [
    { role: "system", content: "Be brief." },
    { role: "user", content },
  ];
}

for (const language of languages) {
  const test = runTest.skipIf(Bun.which(commands[language][0] ?? "") === null || Bun.which("curl") === null);

  test(`${language} sends a chat, with texts and values as they are`, async () => {
    const tool = { type: "object", properties: { on: { type: "boolean", default: true }, off: { enum: [null, 1.5] } } };
    const json = {
      model: "sandbox/transcript",
      messages: toMessages(awkwardText),
      temperature: 0,
      stop: null,
      parallel_tool_calls: false,
      tools: [{ type: "function", function: { name: "switch_light", parameters: tool } }],
      tool_choice: "none",
    };
    const { output, errors, exitCode } = await run(language, { method: "POST", path: "/v3/chat/completions", json });
    expect([exitCode, errors]).toEqual([0, ""]);
    const answer = JSON.parse(output) as { choices: { message: { content: string } }[] };
    expect(answer.choices[0]?.message.content).toBe(`system: Be brief.\nuser: ${awkwardText}`);
  });

  test(`${language} prints the text of a chat that is streamed`, async () => {
    const json = { model: "sandbox/echo", messages: toMessages("one two three"), stream: true };
    const { output, exitCode } = await run(language, { method: "POST", path: "/v3/chat/completions", json });
    expect(exitCode).toBe(0);
    // curl prints the events.
    if (language === "curl") expect(output).toContain("data: [DONE]");
    else expect(output).toBe("You said: one two three\n");
  });

  test(`${language} creates, retrieves and deletes a response`, async () => {
    const json = { model: "sandbox/echo", input: "remember me", stream: true };
    const streamed = await run(language, { method: "POST", path: "/v3/responses", json });
    expect(streamed.output).toContain(language === "curl" ? "response.completed" : "You said: remember me\n");
    const created = await run(language, { method: "POST", path: "/v3/responses", json: { ...json, stream: false } });
    const { id } = JSON.parse(created.output) as { id: string };
    const retrieved = await run(language, { method: "GET", path: `/v3/responses/${id}` });
    expect(JSON.parse(retrieved.output)).toMatchObject({ id, status: "completed" });
    const deleted = await run(language, { method: "DELETE", path: `/v3/responses/${id}` });
    expect(JSON.parse(deleted.output)).toMatchObject({ id, deleted: true });
  });

  test(`${language} sends a form with a file whose name is awkward`, async () => {
    const fileName = `it's a "file", $HOME; type=text.txt`;
    await Bun.write(join(folder, fileName), "The content of the file.");
    const multipart = [
      { name: "file", fileName, type: "text/plain" },
      { name: "purpose", value: "a; b" },
      { name: "metadata", value: JSON.stringify({ note: awkwardText.replaceAll("\u0000", "") }) },
    ];
    const { output, errors, exitCode } = await run(language, { method: "POST", path: "/v3/upload", multipart });
    expect([exitCode, errors]).toEqual([0, ""]);
    expect(JSON.parse(output)).toMatchObject({
      file_size: 24,
      file_mimetype: "text/plain",
      purpose: "a; b",
      metadata: { note: awkwardText.replaceAll("\u0000", "") },
    });
  });

  test(`${language} writes an answer of bytes to a file`, async () => {
    const saveAs = `models of ${language}.json`;
    const { exitCode } = await run(language, {
      method: "GET",
      path: "/v3/models?provider=sandbox&include=sandbox",
      saveAs,
    });
    expect(exitCode).toBe(0);
    expect(await Bun.file(join(folder, saveAs)).json()).toMatchObject({ object: "list" });
  });

  test(`${language} shows the gateway's error`, async () => {
    const request = { method: "GET", path: "/v3/responses/resp_unknown" } as const;
    const { output, errors, exitCode } = await run(language, request);
    expect(output + errors).toContain("response_not_found");
    // curl does not fail for an answer that it received.
    expect(exitCode === 0).toBe(language === "curl");
  });
}
