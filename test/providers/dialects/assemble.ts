// What a client makes of the chunks of a stream.

import type { ChatChunk, ChatUsage, ReasoningDetail } from "../../../src/contract/chat-format.ts";
import type { ChatDialect, Dialect } from "../../../src/providers/dialect.ts";

export interface Assembled {
  readonly ids: readonly string[];
  readonly roles: number;
  readonly content: string;
  readonly reasoning: string;
  readonly details: readonly ReasoningDetail[];
  readonly calls: readonly { id: string; name: string; arguments: string }[];
  readonly finishes: readonly string[];
  readonly usages: readonly ChatUsage[];
}

export function assemble(chunks: readonly ChatChunk[], index = 0): Assembled {
  const ids = new Set<string>();
  const details: ReasoningDetail[] = [];
  const calls: { id: string; name: string; arguments: string }[] = [];
  const finishes: string[] = [];
  const usages: ChatUsage[] = [];
  let roles = 0;
  let content = "";
  let reasoning = "";
  for (const chunk of chunks) {
    ids.add(chunk.id);
    if (chunk.usage) usages.push(chunk.usage);
    for (const choice of chunk.choices) {
      if (choice.index !== index) continue;
      const { delta } = choice;
      if (delta.role) roles += 1;
      content += delta.content ?? "";
      reasoning += delta.reasoning_content ?? "";
      details.push(...(delta.reasoning_details ?? []));
      for (const call of delta.tool_calls ?? []) {
        const told = calls[call.index] ?? { id: "", name: "", arguments: "" };
        told.id += call.id ?? "";
        told.name += call.function?.name ?? "";
        told.arguments += call.function?.arguments ?? "";
        calls[call.index] = told;
      }
      if (choice.finish_reason) finishes.push(choice.finish_reason);
    }
  }
  return { ids: [...ids], roles, content, reasoning, details, calls, finishes, usages };
}

export function chatOf(dialect: Dialect): ChatDialect {
  if (dialect.chat === undefined) throw new TypeError(`${dialect.name} has no chat`);
  return dialect.chat;
}
