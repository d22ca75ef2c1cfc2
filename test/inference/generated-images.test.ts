// Images that a chat model generates: callers of the Responses and the Messages format get them, and the model gets them back in the next
// turn. The shapes are documented (https://ai.google.dev/gemini-api/docs/image-generation, .../thought-signatures); the contents are invented.

import { describe, expect, test } from "bun:test";
import { answer, type Script } from "../support/answers.ts";
import { claudeMessage } from "../support/anthropic.ts";
import { ask as askAt } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { openTranslatedGateway } from "../support/translated-gateway.ts";

type Members = Record<string, unknown>;

const { vendor, gateway, key } = await openTranslatedGateway();

const painter = "gemini/gemini-3-pro-image";
const claude = "anthropic/claude-opus-5";
const picture = { inlineData: { mimeType: "image/jpeg", data: "/9j/4AAQ" }, thoughtSignature: "c2lnbmF0dXJl" };
const unsigned = { inlineData: picture.inlineData, thoughtSignature: "skip_thought_signature_validator" };

/** The picture alone, or behind a text. */
function paint(isStream: boolean, text = ""): Script {
  const parts = text === "" ? [picture] : [{ text }, picture];
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const native = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }], usageMetadata };
  return isStream
    ? answer(200, `data: ${JSON.stringify(native)}\n\n`, { "content-type": "text/event-stream" })
    : answer(200, native);
}

async function ask(path: string, body: Members): Promise<Response> {
  const response = await askAt(gateway.url, key, body, { path });
  if (!response.ok) throw new Error(`expected an answer, got ${response.status}: ${await response.text()}`);
  return response;
}

const droppedIn = (response: Response) => response.headers.get("x-switchyard-dropped-params");
const sent = () => JSON.parse(vendor.last().body.toString());

function eventsIn(text: string): Members[] {
  return readEvents(text).events.flatMap(({ data }) => (data.startsWith("{") ? [JSON.parse(data)] : []));
}

describe("in the Responses format", () => {
  const path = "/v3/responses";
  const question = { type: "message", role: "user", content: "Draw a cat." };
  const wish = { type: "message", role: "user", content: "Make it blue." };

  async function draw(isStream: boolean): Promise<Members[]> {
    vendor.next(paint(isStream));
    const text = await (await ask(path, { model: painter, input: [question], stream: isStream })).text();
    if (!isStream) return JSON.parse(text).output;
    return (eventsIn(text).at(-1) as { response: { output: Members[] } }).response.output;
  }

  test.each([false, true])("the model gets its picture back with its signature (stream: %p)", async (isStream) => {
    const items = await draw(isStream);
    expect(items).toMatchObject([{ type: "image_generation_call", result: "/9j/4AAQ", output_format: "jpeg" }]);
    vendor.next(paint(false));
    const next = await ask(path, { model: painter, input: [question, ...items, wish], strict_parameters: true });
    expect(droppedIn(next)).toBeNull();
    expect(sent().contents.map(({ parts }: Members) => parts)).toEqual([
      [{ text: "Draw a cat." }],
      [picture],
      [{ text: "Make it blue." }],
    ]);
  });

  test("a picture without its signature is sent with the value that replaces it", async () => {
    const item = { type: "image_generation_call", id: "ig_1", result: "/9j/4AAQ", output_format: "jpeg" };
    vendor.next(paint(false));
    await ask(path, { model: painter, input: [question, item, wish] });
    expect(sent().contents[1]).toEqual({ role: "model", parts: [unsigned] });
  });

  test("a provider that does not accept it is asked without it, and the caller is told", async () => {
    const items = await draw(false);
    vendor.next(answer(200, claudeMessage("Hi.")));
    const next = await ask(path, { model: claude, input: [question, ...items, wish] });
    expect(droppedIn(next)).toBe("input.image_generation_call");
    expect(vendor.last().body.toString()).not.toContain("/9j/4AAQ");
  });
});

describe("in the Messages format", () => {
  const path = "/v3/v1/messages";
  const question = { role: "user", content: "Draw a cat." };
  const wish = { role: "user", content: "Make it blue." };
  const markdown = "![image](data:image/jpeg;base64,/9j/4AAQ)";

  async function draw(isStream: boolean, text = ""): Promise<Members[]> {
    vendor.next(paint(isStream, text));
    const asked = { model: painter, max_tokens: 100, messages: [question], stream: isStream };
    const told = await (await ask(path, asked)).text();
    return isStream ? blocksIn(eventsIn(told)) : JSON.parse(told).content;
  }

  /** The blocks as a client puts them together. */
  function blocksIn(events: readonly Members[]): Members[] {
    const blocks: Members[] = [];
    for (const { type, index, content_block: block, delta } of events) {
      if (type === "content_block_start") blocks[index as number] = { ...(block as Members) };
      const open = blocks[index as number];
      const { text } = (delta ?? {}) as Members;
      if (type === "content_block_delta" && open !== undefined) open["text"] = `${open["text"]}${text}`;
    }
    return blocks;
  }

  test.each([false, true])("a picture is a text of its own, a Markdown image (stream: %p)", async (isStream) => {
    expect(await draw(isStream)).toMatchObject([{ type: "text", text: markdown }]);
    expect(await draw(isStream, "Here it is.")).toMatchObject([
      { type: "text", text: "Here it is." },
      { type: "text", text: markdown },
    ]);
  });

  test.each([false, true])("the model gets its picture back with its signature (stream: %p)", async (isStream) => {
    const content = await draw(isStream, "Here it is.");
    vendor.next(paint(false));
    const messages = [question, { role: "assistant", content }, wish];
    const next = await ask(path, { model: painter, max_tokens: 100, messages, strict_parameters: true });
    expect(droppedIn(next)).toBeNull();
    expect(sent().contents[1]).toEqual({ role: "model", parts: [{ text: "Here it is." }, picture] });
  });

  test.each([claude, "mockchat/echo"])("%s is asked without it, and the caller is told", async (model) => {
    const content = await draw(false, "Here it is.");
    if (model === claude) vendor.next(answer(200, claudeMessage("Hi.")));
    const messages = [question, { role: "assistant", content }, wish];
    const next = await ask(path, { model, max_tokens: 100, messages });
    expect(droppedIn(next)).toBe("messages.generated_image");
    const body = vendor.last().body.toString();
    expect(body).toContain("Here it is.");
    for (const left of ["/9j/4AAQ", "extra_content"]) expect(body).not.toContain(left);
  });

  test("an estimate of tokens counts it as an image, not as text", async () => {
    const large = { type: "text", text: `![image](data:image/jpeg;base64,${"A".repeat(400_000)})` };
    const messages = [question, { role: "assistant", content: [large] }, wish];
    const counted = await ask(`${path}/count_tokens`, { model: "mockchat/echo", messages });
    expect(((await counted.json()) as { input_tokens: number }).input_tokens).toBeLessThan(5_000);
  });
});
