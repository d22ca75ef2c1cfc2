// What the programs of the invented company sent in their last requests, and what they were answered.

import { createSealer } from "../lib/seal.ts";
import type { Log } from "../log.ts";
import type { LedgerLine } from "../storage/ledger-line.ts";
import type { Storage } from "../storage/storage.ts";
import { createContentRules } from "../tracing/content.ts";
import { type Captured, createCaptures } from "../usage/captures.ts";
import type { StoredKey } from "./demo-data.ts";

interface Talk {
  readonly system: string;
  readonly user: string;
  readonly answer: string;
}

const talks: Readonly<Record<StoredKey["use"], readonly [Talk, ...Talk[]]>> = {
  assistant: [
    {
      system: "You are the assistant of an online shop for lamps. Answer in at most three sentences.",
      user: "My parcel arrived today, but one of the two lamps is broken. What do I do now?",
      answer:
        "I am sorry about the broken lamp. Please send us a photo of it and of the parcel; we ship a new lamp within two working days, at no cost. You do not have to return the broken one.",
    },
    {
      system: "You are the assistant of an online shop for lamps. Answer in at most three sentences.",
      user: "Can I use the oak table lamp in the bathroom?",
      answer:
        "The oak table lamp is made for dry rooms (IP20), so please do not use it in a bathroom. The wall lamps of our Fjord series are suitable (IP44).",
    },
  ],
  triage: [
    {
      system: "Name the team for this ticket: orders, returns, billing or technical. Answer with one word.",
      user: "I was charged twice for order 48211.",
      answer: "billing",
    },
    {
      system: "Name the team for this ticket: orders, returns, billing or technical. Answer with one word.",
      user: "The dimmer flickers below 20 percent.",
      answer: "technical",
    },
  ],
  search: [
    {
      system: "Rewrite the query of a shopper as filters. Answer with JSON.",
      user: "warm white floor lamp under 150 euro, not black",
      answer: '{"kind":"floor lamp","light":"warm white","max_price_eur":150,"not_colors":["black"]}',
    },
  ],
  documents: [
    {
      system: "Extract number, date, seller and total of the invoice as JSON.",
      user: "Invoice 2026-1184\nPaper & Ink GmbH, Berlin\n2 November 2026\n40 x paper A4 …\nTotal 1,284.50 EUR",
      answer:
        '{"number":"2026-1184","date":"2026-11-02","seller":"Paper & Ink GmbH","total":{"amount":1284.5,"currency":"EUR"}}',
    },
  ],
  research: [
    {
      system: "You grade answers of other models. Give a score from 1 to 5, then one sentence.",
      user: "Question: Why is the sky blue?\nAnswer: Because the air scatters blue light more than red light.",
      answer: "4. The answer is right and short, but it does not name Rayleigh scattering.",
    },
  ],
  writing: [
    {
      system: "You write short texts for a shop. No superlatives.",
      user: "A newsletter teaser for the new oak lamps, two sentences.",
      answer:
        "Our new lamps are turned from oak that grew within fifty kilometres of the workshop. Each has a dimmer, a linen shade and a cable that is long enough.",
    },
  ],
  code: [
    {
      system: "You review pull requests. Name problems only.",
      user: "-  for (const id of ids) await load(id);\n+  await Promise.all(ids.map(load));",
      answer:
        "`ids` has no limit here, so a long list opens as many connections at once. Load them in batches, or limit the concurrency.",
    },
  ],
};

export interface CapturesFill {
  /** All lines of the requests. */
  readonly lines: readonly LedgerLine[];
  readonly keys: readonly StoredKey[];
  readonly log: Log;
}

export async function fillCaptures(storage: Storage, { lines, keys, log }: CapturesFill): Promise<void> {
  const captures = createCaptures({
    store: storage.captures,
    sealer: createSealer([Buffer.from(await storage.secrets.getOrCreate("captures", 32))]),
    rules: createContentRules(32_768, null, log),
    isEnabled: true,
    retentionHours: 72,
    log,
  });
  // The last attempt of a request is the one that answered it.
  const last = new Map(lines.map((line) => [line.request_id, line]));
  for (const line of last.values()) {
    const key = keys.find(({ id }) => id === line.key_id);
    if (key !== undefined) captures.add(toCaptured(line, key));
  }
  await captures.close();
}

function toCaptured(line: LedgerLine, key: StoredKey): Captured {
  const choices = talks[key.use];
  const { system, user, answer } = choices[line.time % choices.length] ?? choices[0];
  const isStream = line.is_stream === 1;
  const model = line.provider === undefined ? "anthropic/claude-opus-4-5" : `${line.provider}/${line.model}`;
  const messages = [
    { role: "system", content: system },
    { role: "user", content: user },
  ];
  const request = { model, messages, ...(isStream && { stream: true, stream_options: { include_usage: true } }) };
  const isAnswered = line.status === 200;
  return {
    ...{ requestId: line.request_id, time: line.time + line.latency_ms, keyId: key.id, team: key.team },
    ...{ method: "POST", path: line.endpoint, status: line.status, isAnswerCut: false },
    requestHeaders: {
      authorization: "Bearer of the key",
      "content-type": "application/json",
      "user-agent": "OpenAI/JS 6.9.1",
      "x-forwarded-for": "192.0.2.57",
    },
    requestText: JSON.stringify(request),
    answerHeaders: {
      "content-type": isStream && isAnswered ? "text/event-stream; charset=utf-8" : "application/json",
      "x-request-id": line.request_id,
      ...(line.attempt > 0 && { "x-switchyard-attempts": String(line.attempt) }),
    },
    answer: !isAnswered
      ? JSON.stringify({ error: { message: line.reason ?? "The provider did not answer.", code: line.outcome } })
      : isStream
        ? new TextEncoder().encode(writeEvents(line, model, answer))
        : writeCompletion(line, model, answer),
  };
}

function toUsage({ input_tokens = 0, output_tokens = 0 }: LedgerLine) {
  return { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens: input_tokens + output_tokens };
}

function toHead(line: LedgerLine, model: string, object: string) {
  return { id: `chatcmpl-${line.id.slice(-12)}`, object, created: Math.floor(line.time / 1_000), model };
}

function writeCompletion(line: LedgerLine, model: string, answer: string): string {
  const message = { role: "assistant", content: answer };
  return JSON.stringify({
    ...toHead(line, model, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: toUsage(line),
  });
}

function writeEvents(line: LedgerLine, model: string, answer: string): string {
  const head = toHead(line, model, "chat.completion.chunk");
  const pieces = answer.split(/(?<= )/);
  const chunks = [
    ...pieces.map((content) => ({ ...head, choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { ...head, choices: [], usage: toUsage(line) },
  ];
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
}
