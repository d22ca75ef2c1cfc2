// Converse with models of open weights: gpt-oss, Qwen and Kimi. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

import { httpChunk, lastHttpChunk, type Script, streamHead } from "../answers.ts";
import { frame } from "../dialect-vendors/bedrock.ts";
import type { VendorRequest } from "../vendor.ts";
import { type Members, objects, piecesOf, Refusal, serveStrictly, stepAfter, toCall } from "./plan.ts";

export function bedrockAgent(request: VendorRequest): Script {
  return serveStrictly(request, (body) => {
    const messages = objects(body["messages"]);
    const turns = messages.filter((message) => blocksOf(message, "toolUse").length > 0);
    checkTurns(messages, turns);
    const tools = objects((body["toolConfig"] as Members)["tools"]).map((tool) => tool["toolSpec"] as Members);
    const { thought, text, calls } = stepAfter(turns.length, "bedrock");
    const earlier = turns.flatMap((message) => blocksOf(message, "toolUse")).length;
    let index = 0;
    const block = (deltas: readonly Members[], start?: Members): Uint8Array[] => {
      const at = { contentBlockIndex: index++ };
      return [
        ...(start === undefined ? [] : [frame("contentBlockStart", { ...at, start })]),
        ...deltas.map((delta) => frame("contentBlockDelta", { ...at, delta })),
        frame("contentBlockStop", at),
      ];
    };
    const events = [
      frame("messageStart", { role: "assistant" }),
      ...block(piecesOf(thought).map((piece) => ({ reasoningContent: { text: piece } }))),
      ...(text === "" ? [] : block(piecesOf(text).map((piece) => ({ text: piece })))),
      ...calls.flatMap(({ command }, place) => {
        const called = toCall(tools, command);
        const start = { toolUse: { toolUseId: `functions.${called.name}:${earlier + place}`, name: called.name } };
        return block(
          piecesOf(called.arguments).map((piece) => ({ toolUse: { input: piece } })),
          start,
        );
      }),
      frame("messageStop", { stopReason: calls.length > 0 ? "tool_use" : "end_turn" }),
      frame("metadata", { usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 }, metrics: { latencyMs: 1 } }),
    ];
    const head = streamHead({ "content-type": "application/vnd.amazon.eventstream" });
    return [head, ...events.map(httpChunk), lastHttpChunk];
  });
}

function blocksOf(message: Members, kind: string): Members[] {
  return objects(message["content"]).flatMap((block) => (block[kind] ? [block[kind] as Members] : []));
}

/**
 * The refusal of a signature is quoted in github.com/earendil-works/pi/issues/686. That the reasoning and the ids of the model have
 * to come back as they were given is invented, so that a loss shows.
 */
function checkTurns(messages: readonly Members[], turns: readonly Members[]): void {
  let count = 0;
  for (const [turn, message] of turns.entries()) {
    const told = blocksOf(message, "reasoningContent").map((block) => block["reasoningText"] as Members);
    if (told.some((text) => "signature" in text))
      refuse(
        "This model doesn't support the reasoningContent.reasoningText.signature field. Remove " +
          "reasoningContent.reasoningText.signature and try again.",
      );
    if (told.map(({ text }) => text).join("") !== stepAfter(turn, "bedrock").thought)
      refuse(`the reasoning of turn ${turn + 1} did not come back`);
    const results = blocksOf(messages[messages.indexOf(message) + 1] ?? {}, "toolResult");
    for (const use of blocksOf(message, "toolUse")) {
      const id = `functions.${use["name"]}:${count++}`;
      const hasResult = results.some(({ toolUseId }) => toolUseId === id);
      if (use["toolUseId"] !== id || !hasResult) refuse(`the id ${id} did not come back`);
    }
  }
}

function refuse(message: string): never {
  throw new Refusal({ message });
}
