// Puts the chunks of a streamed answer together.

import type { ChatDelta, ChatUsage } from "../../../contract/chat-format.ts";
import type { StreamEvent } from "../../playground/events.ts";
import type { ToolCall } from "../../playground/tool-call.ts";
import type { Step, StepUsage } from "./conversation.ts";

export class AnswerReader {
  #content = "";
  #reasoning = "";
  #refusal = "";
  readonly #calls: { id: string; name: string; arguments: string; extra?: Readonly<Record<string, unknown>> }[] = [];
  readonly #details: unknown[] = [];
  #extra: Readonly<Record<string, unknown>> | null = null;
  #finishReason: string | null = null;
  #usage: StepUsage | null = null;
  #cost: number | null = null;

  /** Whether something arrived that a person can see. */
  get hasBegun(): boolean {
    return this.#content !== "" || this.#reasoning !== "" || this.#refusal !== "" || this.#calls.length > 0;
  }

  read(event: StreamEvent): void {
    const { choices, usage, cost } = event as {
      readonly choices?: readonly { readonly delta?: ChatDelta | null; readonly finish_reason?: string | null }[];
      readonly usage?: ChatUsage | null;
      readonly cost?: number | null;
    };
    const choice = choices?.[0];
    if (choice?.delta != null) this.#readDelta(choice.delta);
    this.#finishReason = choice?.finish_reason ?? this.#finishReason;
    if (usage != null) this.#usage = toUsage(usage);
    this.#cost = cost ?? this.#cost;
  }

  #readDelta(delta: ChatDelta): void {
    this.#content += delta.content ?? "";
    this.#reasoning += delta.reasoning_content ?? "";
    this.#refusal += delta.refusal ?? "";
    this.#details.push(...(delta.reasoning_details ?? []));
    if (delta.extra_content != null) this.#extra = { ...this.#extra, ...delta.extra_content };
    for (const part of delta.tool_calls ?? []) {
      const index = part.index ?? 0;
      const call = this.#calls[index] ?? { id: "", name: "", arguments: "" };
      this.#calls[index] = call;
      call.id ||= part.id ?? "";
      call.name += part.function?.name ?? "";
      call.arguments += part.function?.arguments ?? "";
      if (part.extra_content != null) call.extra = { ...call.extra, ...part.extra_content };
    }
  }

  /** The part of a step that is known so far. */
  toStep() {
    const toolCalls = this.#calls.map((call): ToolCall => ({ ...call, result: null }));
    const returned = {
      ...(this.#reasoning !== "" && { reasoning_content: this.#reasoning }),
      ...(this.#details.length > 0 && { reasoning_details: [...this.#details] }),
      ...(this.#extra !== null && { extra_content: this.#extra }),
    };
    return {
      content: this.#content,
      reasoning: this.#reasoning,
      refusal: this.#refusal,
      toolCalls,
      returned,
      finishReason: this.#finishReason,
      usage: this.#usage,
      cost: this.#cost,
    } satisfies Partial<Step>;
  }
}

function toUsage({
  prompt_tokens,
  completion_tokens,
  prompt_tokens_details,
  completion_tokens_details,
}: ChatUsage): StepUsage {
  return {
    input: prompt_tokens,
    output: completion_tokens,
    reasoning: completion_tokens_details?.reasoning_tokens ?? 0,
    cached: prompt_tokens_details?.cached_tokens ?? 0,
  };
}
