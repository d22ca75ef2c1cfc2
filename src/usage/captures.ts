// What callers sent and what they were answered, for administrators who look for a mistake. Off unless the operator asks for it. A request only
// leaves its texts here; they are redacted, cut, sealed and stored later, a batch at a time.

import type { CapturedContent, CapturedRequest } from "../contract/captures.ts";
import { isObject } from "../lib/lenient-json.ts";
import { SealError, type Sealer } from "../lib/seal.ts";
import type { Log } from "../log.ts";
import type { CaptureRecord } from "../storage/captures.ts";
import type { Storage } from "../storage/storage.ts";
import { AnswerFacts } from "../tracing/answer-facts.ts";
import { type ContentRules, lookAhead } from "../tracing/content.ts";

export interface CapturesOptions {
  readonly store: Storage["captures"];
  readonly sealer: Sealer;
  readonly rules: ContentRules;
  readonly isEnabled: boolean;
  readonly retentionHours: number;
  readonly log: Log;
}

/** A request that has ended, before anything was removed from it. */
export interface Captured {
  readonly requestId: string;
  readonly time: number;
  readonly keyId: string;
  readonly team: string | null;
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestText: string | null;
  readonly status: number;
  readonly answerHeaders: Readonly<Record<string, string>>;
  /** Bytes: of a stream. */
  readonly answer: string | Uint8Array | null;
  /** The end of a stream is missing. */
  readonly isAnswerCut: boolean;
}

export type Captures = ReturnType<typeof createCaptures>;

const storeEveryMs = 500;
const maxWaiting = 1_000;
const maxWaitingCharacters = 32 * 1_048_576;
const recordsPerBatch = 32;
const maxFound = 10;
// The texts of a request have at most 3 million characters together, and headers come on top.
const maxContentBytes = 32 * 1_048_576;
const warnEveryMs = 60_000;
/** Encoded files: only that there was one. */
const encodedFile = /[A-Za-z0-9+/_-]{512,}={0,2}/g;
// A file at the beginning must not hide the text behind it.
const readAhead = 8;
const secretHeader = /auth|cookie|token|secret|key|password|session|signature|credential/i;
/** Headers that match the pattern and are not secrets. */
const plainHeaders: ReadonlySet<string> = new Set(["idempotency-key"]);

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export function createCaptures({ store, sealer, rules, isEnabled, retentionHours, log }: CapturesOptions) {
  const waiting: Captured[] = [];
  let waitingCharacters = 0;
  let dropped = 0;
  let warnedAt = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let storing: Promise<void> | null = null;
  let isClosed = false;

  /** The beginning of a text, as far as it is read. */
  function take(text: string): string {
    const most = toMaxRead(rules);
    // A copy: a part would keep the whole text in memory.
    return text.length <= most ? text : Buffer.from(text.slice(0, most), "utf16le").toString("utf16le");
  }

  async function storeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, recordsPerBatch);
      for (const one of batch) waitingCharacters -= sizeOf(one);
      const records: CaptureRecord[] = [];
      try {
        for (const one of batch) {
          // Redaction takes a millisecond for a long text: other requests are served in between.
          await nextTurn();
          records.push(await toRecord(one));
        }
        await store.insert(records);
      } catch (error) {
        noteDropped(batch.length, error);
      }
    }
  }

  async function toRecord(captured: Captured): Promise<CaptureRecord> {
    const { requestId, time, keyId, team } = captured;
    const id = Bun.randomUUIDv7();
    const content = await sealer.seal(Buffer.from(JSON.stringify(toShown(captured, rules))), toContext(id));
    return { id, requestId, time, keyId, team, content };
  }

  function noteDropped(count: number, error: unknown): void {
    dropped += count;
    if (performance.now() - warnedAt < warnEveryMs && warnedAt !== 0) return;
    warnedAt = performance.now();
    log.warn("captured requests could not be stored", { dropped, error });
    dropped = 0;
  }

  function schedule(): void {
    if (timer !== null || isClosed) return;
    timer = setTimeout(() => {
      storing = storeWaiting().finally(() => {
        timer = null;
        storing = null;
        if (waiting.length > 0) schedule();
      });
    }, storeEveryMs);
  }

  return {
    isEnabled,
    take,

    /** Returns at once. When too many wait for the store, the request is not captured. */
    add(captured: Captured): void {
      if (!isEnabled || isClosed) return;
      const { requestText, answer } = captured;
      const kept = {
        ...captured,
        requestText: requestText === null ? null : take(requestText),
        answer: typeof answer === "string" ? take(answer) : answer,
      };
      const size = sizeOf(kept);
      if (waiting.length >= maxWaiting || waitingCharacters + size > maxWaitingCharacters) {
        noteDropped(1, new Error("too many captured requests wait for the store"));
        return;
      }
      waiting.push(kept);
      waitingCharacters += size;
      schedule();
    },

    async find(requestId: string, ofTeam: string | null): Promise<CapturedContent> {
      const found = await store.find(requestId, ofTeam, maxFound);
      const items: CapturedRequest[] = [];
      for (const { id, content } of found) {
        try {
          items.push(
            JSON.parse((await sealer.open(content, toContext(id), maxContentBytes)).toString()) as CapturedRequest,
          );
        } catch (error) {
          // Sealed with a key that is no longer configured.
          if (!(error instanceof SealError)) throw error;
        }
      }
      return { request_id: requestId, is_enabled: isEnabled, retention_hours: retentionHours, items };
    },

    deleteOld: (limit: number): Promise<number> => store.deleteOld(Date.now() - retentionHours * 3_600_000, limit),

    /** Stores what waits. */
    async close(): Promise<void> {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await storing;
      await storeWaiting();
    },
  };
}

function toContext(id: string): readonly string[] {
  return ["captures", "content", id];
}

function sizeOf({ requestText, answer }: Captured): number {
  return (requestText?.length ?? 0) + (answer?.length ?? 0);
}

function toMaxRead({ maxCharacters }: ContentRules): number {
  return maxCharacters * readAhead + lookAhead;
}

function toShown(captured: Captured, rules: ContentRules): CapturedRequest {
  const { time, method, path, keyId, team, status, requestText, answer } = captured;
  const text = answer instanceof Uint8Array ? new TextDecoder().decode(answer) : answer;
  const [asked, answered] = [toBody(requestText, rules), toBody(text, rules)];
  return {
    ...{ time: new Date(time).toISOString(), method, path, key_id: keyId, team },
    request: {
      headers: toHeaders(captured.requestHeaders, rules),
      body: asked.body,
      is_cut: asked.is_cut,
    },
    answer: {
      status,
      headers: toHeaders(captured.answerHeaders, rules),
      body: answered.body,
      is_cut: answered.is_cut || captured.isAnswerCut,
      text: text === null ? null : readAnswerText(text, answer instanceof Uint8Array, rules),
    },
  };
}

function toBody(text: string | null, rules: ContentRules) {
  if (text === null) return { body: null, is_cut: false };
  const { redact, maxCharacters } = rules;
  const short = text.replace(encodedFile, (file) => `[${file.length} characters of an encoded file]`);
  // Redacted before it is cut: a part of a secret would no longer be recognized.
  const clean = redact(short.slice(0, maxCharacters + lookAhead));
  const isCut = clean.length > maxCharacters || text.length >= toMaxRead(rules);
  return { body: clean.slice(0, maxCharacters).toWellFormed(), is_cut: isCut };
}

function toHeaders(headers: Readonly<Record<string, string>>, { redact }: ContentRules): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => {
    const isSecret = secretHeader.test(name) && !plainHeaders.has(name);
    return [name, isSecret ? "[redacted]" : redact(value)];
  });
  return Object.fromEntries(shown);
}

/** The text of a completion, message or response, or of the parts of a stream; null for other answers. */
function readAnswerText(text: string, isStream: boolean, rules: ContentRules): string | null {
  const facts = new AnswerFacts(rules);
  if (isStream) {
    for (const line of text.split("\n")) if (line.startsWith("data: {")) note(facts, line.slice("data: ".length));
  } else note(facts, text);
  const written = facts.toAttributes()["gen_ai.output.messages"];
  if (typeof written !== "string") return null;
  const messages = JSON.parse(written) as readonly { readonly parts: readonly { readonly content: string }[] }[];
  const texts = messages.flatMap(({ parts }) => parts.map(({ content }) => content));
  return texts.length === 0 ? null : texts.join("\n\n");
}

/** The last part may have been cut. */
function note(facts: AnswerFacts, json: string): void {
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) facts.note(value);
  } catch {
    // Not an event that has a text.
  }
}
