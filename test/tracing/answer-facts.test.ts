// What spans say about answers, in each format that callers and providers use.

import { describe, expect, test } from "bun:test";
import { AnswerFacts } from "../../src/tracing/answer-facts.ts";
import { createContentRules, writeInput, writeInstructions } from "../../src/tracing/content.ts";
import { quiet } from "../contracts/engines.ts";

const rules = createContentRules(200, null, quiet);

function factsOf(values: readonly Record<string, unknown>[]): Readonly<Record<string, unknown>> {
  const facts = new AnswerFacts(rules);
  for (const value of values) facts.note(value);
  const { "gen_ai.output.messages": messages, ...others } = facts.toAttributes();
  return { ...others, messages: messages === undefined ? undefined : JSON.parse(String(messages)) };
}

function said(text: string, finish_reason: string) {
  return { role: "assistant", parts: [{ type: "text", content: text }], finish_reason };
}

describe("the facts of an answer", () => {
  test("of a chat completion with several choices", () => {
    const choices = [
      { index: 0, message: { content: "one" }, finish_reason: "stop" },
      { index: 1, message: { content: "two" }, finish_reason: "length" },
    ];
    expect(factsOf([{ id: "c1", model: "m-2024", choices }])).toEqual({
      "gen_ai.response.id": "c1",
      "gen_ai.response.model": "m-2024",
      "gen_ai.response.finish_reasons": ["stop", "length"],
      messages: [said("one", "stop"), said("two", "length")],
    });
  });

  test("of a chat stream whose second choice does not complete", () => {
    const chunk = (index: number, content: string, finish_reason: string | null = null) => {
      return { id: "c2", model: "m", choices: [{ index, delta: { content }, finish_reason }] };
    };
    const facts = factsOf([chunk(0, "Hel"), chunk(1, "Bon"), chunk(0, "lo", "stop"), { choices: [], usage: {} }]);
    expect(facts["gen_ai.response.finish_reasons"]).toEqual(["stop", "error"]);
    expect(facts["messages"]).toMatchObject([said("Hello", "stop"), { parts: [{ content: "Bon" }] }]);
  });

  test("of a message, whole and as a stream", () => {
    const expected = {
      "gen_ai.response.id": "msg_1",
      "gen_ai.response.model": "claude-x",
      "gen_ai.response.finish_reasons": ["end_turn"],
      messages: [said("Hello", "end_turn")],
    };
    const message = { id: "msg_1", type: "message", model: "claude-x", stop_reason: "end_turn" };
    expect(factsOf([{ ...message, content: [{ type: "text", text: "Hello" }] }])).toEqual(expected);
    const delta = (text: string) => ({ type: "content_block_delta", delta: { type: "text_delta", text } });
    const events = [
      { type: "message_start", message: { ...message, stop_reason: null, content: [] } },
      delta("Hel"),
      delta("lo"),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
    ];
    expect(factsOf(events)).toEqual(expected);
  });

  test("of a response, whole and as a stream, and of one that was cut", () => {
    const output = [{ type: "message", content: [{ type: "output_text", text: "Hello" }] }];
    const response = { id: "resp_1", object: "response", model: "gpt-x", status: "completed", output };
    const expected = {
      "gen_ai.response.id": "resp_1",
      "gen_ai.response.model": "gpt-x",
      "gen_ai.response.finish_reasons": ["stop"],
      messages: [said("Hello", "stop")],
    };
    expect(factsOf([response])).toEqual(expected);
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_text.delta", delta: "Hello" },
      { type: "response.function_call_arguments.delta", delta: "{}" },
      { type: "response.completed", response },
    ];
    expect(factsOf(events)).toEqual(expected);
    const cut = { ...response, status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    expect(factsOf([cut])["gen_ai.response.finish_reasons"]).toEqual(["max_output_tokens"]);
  });

  test("stay small for a vendor that counts its choices from a large number", () => {
    const facts = factsOf([{ choices: [{ index: 1e9, delta: { content: "x" }, finish_reason: "stop" }] }]);
    expect((facts["gen_ai.response.finish_reasons"] as string[]).length).toBeLessThanOrEqual(128);
  });
});

describe("the content of a request", () => {
  test("is cut from its beginning, and a secret at the cut is removed as a whole", () => {
    const small = createContentRules(20, null, quiet);
    const secret = "sk-abcdefghijklmnopqrstuvwxyz";
    const messages = [
      { role: "user", content: "forgotten" },
      { role: "user", content: `my key is ${secret}` },
    ];
    const written = writeInput({ messages }, small);
    expect(written).not.toContain("abcdef");
    expect(JSON.parse(written ?? "")).toEqual([
      { role: "user", parts: [{ type: "text", content: "my key is [redacted]" }] },
    ]);
  });

  test("is read in the Messages and Responses formats, without binary data", () => {
    const picture = { type: "image", source: { type: "base64", data: "QUJD".repeat(50) } };
    const result = { type: "tool_result", tool_use_id: "t1", content: "sunny" };
    const body = { system: "Be brief.", messages: [{ role: "user", content: [picture, result] }] };
    expect(writeInput(body, rules)).not.toContain("QUJD");
    expect(JSON.parse(writeInput(body, rules) ?? "")).toEqual([
      {
        role: "user",
        parts: [
          { type: "image" },
          { type: "tool_call_response", id: "t1", result: [{ type: "text", content: "sunny" }] },
        ],
      },
    ]);
    expect(JSON.parse(writeInstructions(body, rules) ?? "")).toEqual([{ type: "text", content: "Be brief." }]);
    expect(JSON.parse(writeInput({ input: "Hello" }, rules) ?? "")).toEqual([
      { role: "user", parts: [{ type: "text", content: "Hello" }] },
    ]);
    expect(writeInput({ model: "x" }, rules)).toBeUndefined();
  });

  const body = "9aZ81QkPq77LmN3v0Xb5Tc2Rd8Fg4Hj6";
  const secrets = [
    "sk-sy-0123456789abcdef",
    "mgmt-sy-0123456789abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "Bearer abcdefghijklmnop",
    ...["gsk_", "csk-", "xai-", "hf_", "pplx-", "r8_", "nvapi-", "fw_", "tgp_v1_", "jina_", "whsec_", "glpat-"].map(
      (prefix) => `${prefix}${body}`,
    ),
    `github_pat_${body}_${body}`,
    `ghs_${body}`,
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh",
    "nvapi-aB_-cD3_eF-gH4_iJ-kL5_mN-oP6",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0B==\n-----END PRIVATE KEY-----",
  ];

  test.each(secrets)("lacks %s, in a text and behind a line break in JSON", (secret) => {
    const { redact } = createContentRules(1_000, null, quiet);
    expect(redact(`Use ${secret}, please.`)).toBe("Use [redacted], please.");
    expect(redact(JSON.stringify(`Use:\n${secret}\n`))).toBe('"Use:\\n[redacted]\\n"');
    expect(redact(JSON.stringify(`Use:\u0001${secret}`))).toBe('"Use:\\u0001[redacted]"');
  });

  test("lacks passwords in addresses, also with escaped slashes", () => {
    const { redact } = createContentRules(1_000, null, quiet);
    expect(redact("https://user:hunter2@host.example/path")).toBe("https://[redacted]@host.example/path");
    expect(redact(String.raw`https:\/\/user:hunter2@host.example`)).toBe(String.raw`https:\/\/[redacted]@host.example`);
  });

  test("keeps names that only begin like a key", () => {
    const text =
      "hf_hub_download of jina_embeddings_v3, pplx-70b-online, xai-explainability, fw_version_checksum, r8_unorm, " +
      "key-authentication, csk-against-mumbai, whsec_ and AKIA";
    expect(createContentRules(1_000, null, quiet).redact(text)).toBe(text);
  });
});
