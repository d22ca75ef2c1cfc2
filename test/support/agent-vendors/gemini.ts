// Gemini 3. https://ai.google.dev/gemini-api/docs/thought-signatures: the first call of every step of the current turn carries the
// signature that came with it. The text of the refusal is quoted in docs.apiyi.com/faq/gemini-thought-signature-missing.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { type Members, objects, Refusal, seal, serveStrictly, stepAfter, streamOf, toCall } from "./plan.ts";

export function geminiAgent(request: VendorRequest): Script {
  return serveStrictly(request, (body) => {
    const contents = objects(body["contents"]);
    const tools = objects(body["tools"]).flatMap((tool) => objects(tool["functionDeclarations"]));
    checkSchemas(tools);
    const turns = contents.filter(
      (content) => content["role"] === "model" && objects(content["parts"]).some((part) => part["functionCall"]),
    );
    checkSignatures(contents);
    const { thought, text, calls } = stepAfter(turns.length, "gemini");
    const signature = { thoughtSignature: seal(thought, "gemini") };
    const parts: Members[] = [{ text: thought, thought: true }];
    if (text !== "") parts.push({ text, ...(calls.length === 0 && signature) });
    for (const [index, { command }] of calls.entries()) {
      const called = toCall(tools, command);
      const functionCall = { id: `g${turns.length}${index}`, name: called.name, args: JSON.parse(called.arguments) };
      parts.push({ functionCall, ...(index === 0 && signature) });
    }
    const chunk = (given: readonly Members[], more: Members = {}) => ({
      candidates: [{ content: { role: "model", parts: given }, index: 0, ...more }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, thoughtsTokenCount: 5, totalTokenCount: 125 },
      modelVersion: "gemini-3.5-flash",
      responseId: `g${turns.length}`,
    });
    if (request.path.endsWith(":generateContent")) return answer(200, chunk(parts, { finishReason: "STOP" }));
    return streamOf([...parts.map((part) => chunk([part])), chunk([], { finishReason: "STOP" })]);
  });
}

function refuse(message: string): never {
  throw new Refusal({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
}

function checkSignatures(contents: readonly Members[]): void {
  // A turn begins where the user says something that is no result.
  const start = contents.findLastIndex(
    (content) => content["role"] === "user" && objects(content["parts"]).some((part) => part["text"] !== undefined),
  );
  let turn = 0;
  for (const [index, content] of contents.entries()) {
    const calls = objects(content["parts"]).filter((part) => part["functionCall"] !== undefined);
    const [first] = calls;
    if (content["role"] !== "model" || first === undefined) continue;
    const signature = first["thoughtSignature"];
    const { name } = first["functionCall"] as { name: string };
    if (signature === undefined && index > start)
      refuse(
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and " +
          "missing thought_signature may lead to degraded model performance. Additional data, function call " +
          `\`default_api:${name}\` , position ${index + 1}.`,
      );
    // The vendor accepts a placeholder in place of a signature. This server refuses it: that rule is invented.
    if (signature !== seal(stepAfter(turn++, "gemini").thought, "gemini")) refuse("Invalid thought signature.");
    checkResults(calls, contents[index + 1]);
  }
}

/** The text of the refusal is the vendor's, as reported in github.com/google-gemini/cookbook/issues/393. */
function checkResults(calls: readonly Members[], next: Members | undefined): void {
  const results = objects(next?.["parts"]).filter((part) => part["functionResponse"] !== undefined);
  if (results.length !== calls.length)
    refuse(
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    );
}

/** Keywords that the field for OpenAPI schemas does not know are refused; the field for JSON Schema takes them. */
function checkSchemas(tools: readonly Members[]): void {
  for (const [index, { parameters }] of tools.entries())
    if (JSON.stringify(parameters ?? {}).includes('"$schema"'))
      refuse(
        `Invalid JSON payload received. Unknown name "$schema" at 'tools[0].function_declarations[${index}].parameters': Cannot find field.`,
      );
}
