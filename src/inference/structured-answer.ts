// Checks an answer against the schema of `response_format` where the vendor does not enforce it, because a tool call carries the answer.

import type { ChatChunkChoice, ChatRequest } from "../contract/chat-format.ts";
import { GatewayError } from "../errors.ts";
import { type Json, SchemaDocument, SchemaProblem } from "../lib/json-schema/schema.ts";
import { findUnappliedPatterns, fitsSchema } from "../lib/json-schema/schema-check.ts";
import type { Provider } from "../providers/configure.ts";
import type { ChunkSink, ChunkSource, LooseChunk } from "./chunk-source.ts";

/** Throws when the text is not JSON, or does not match the schema of the request. */
export function checkStructuredAnswer(text: string, request: ChatRequest, provider: Provider): void {
  const problem = findProblem(text, schemaOf(request));
  if (problem === null) return;
  throw new GatewayError(
    "provider_bad_response",
    `The provider '${provider.name}' answered with ${problem} instead of what response_format requires.`,
  );
}

/** The parts of the schema that the check cannot apply, named like dropped parameters. */
export function findUnchecked(request: ChatRequest): readonly string[] {
  const schema = schemaOf(request);
  if (schema === true) return [];
  try {
    return findUnappliedPatterns(schema, new SchemaDocument(schema)).length > 0
      ? ["response_format.json_schema.schema.pattern"]
      : [];
  } catch (error) {
    if (error instanceof SchemaProblem) return ["response_format.json_schema.schema"];
    throw error;
  }
}

function schemaOf({ response_format }: ChatRequest): unknown {
  return response_format?.type === "json_schema" ? (response_format.json_schema.schema ?? true) : true;
}

function findProblem(text: string, schema: unknown): string | null {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return "something that is not JSON";
  }
  const document = new SchemaDocument(schema);
  try {
    return fitsSchema(value, document.root, document) ? null : "JSON that does not fit the schema";
  } catch (error) {
    // An answer is accepted when its schema cannot be applied, or not in time.
    if (error instanceof SchemaProblem) return null;
    throw error;
  }
}

/** Checks the text of a stream at its end, before the end is forwarded. */
export class CheckedSource implements ChunkSource {
  readonly #source: ChunkSource;
  readonly #request: ChatRequest;
  readonly #provider: Provider;
  readonly #choices = new Map<unknown, { text: string; isWhole: boolean }>();

  constructor(source: ChunkSource, request: ChatRequest, provider: Provider) {
    this.#source = source;
    this.#request = request;
    this.#provider = provider;
  }

  get readsLists(): boolean {
    return this.#source.readsLists === true;
  }

  get usageSoFar(): unknown {
    return this.#source.usageSoFar;
  }

  push(bytes: Uint8Array, sink: ChunkSink, callIndex: number): void {
    this.#source.push(bytes, this.#checking(sink), callIndex);
  }

  close(sink: ChunkSink, callIndex: number): void {
    this.#source.close(this.#checking(sink), callIndex);
  }

  #checking(sink: ChunkSink): ChunkSink {
    return {
      chunk: (chunk, frame, text) => {
        this.#collect(chunk);
        sink.chunk(chunk, frame, text);
      },
      done: () => {
        for (const { text, isWhole } of this.#choices.values())
          if (isWhole) checkStructuredAnswer(text, this.#request, this.#provider);
        sink.done();
      },
    };
  }

  #collect(chunk: LooseChunk): void {
    for (const { index, delta, finish_reason } of (chunk["choices"] ?? []) as Partial<ChatChunkChoice>[]) {
      const choice = this.#choices.get(index) ?? { text: "", isWhole: false };
      choice.text += delta?.content ?? "";
      // An answer that was cut by a limit, or a refusal, cannot match the schema.
      if (finish_reason === "stop") choice.isWhole = true;
      this.#choices.set(index, choice);
    }
  }
}
