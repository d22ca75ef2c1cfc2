// Members that the routes in OpenAI's formats over tasks (audio, images, moderations) have in common.

import { z } from "zod";
import { answerMembers, costReason } from "./answer-members.ts";
import { createGatewayMembers } from "./chat-completions.ts";
import { createEngineModelName } from "./model-names.ts";

export const providerParams = z
  .nullish(z.record(z.string(), z.unknown()))
  .describe("Merged into the request to the provider. The model, and what is billed, cannot be overridden.");

export function createEngineMembers(aliases: ReadonlySet<string>) {
  const model = createEngineModelName(aliases);
  const { fallbacks, tags, strict_parameters } = createGatewayMembers(model);
  return { model, fallbacks, provider_params: providerParams, tags, strict_parameters };
}

export const engineMemberNames: readonly string[] = Object.keys(createEngineMembers(new Set()));

export const taskAnswerMembers = { ...answerMembers, cost_reason: costReason };
