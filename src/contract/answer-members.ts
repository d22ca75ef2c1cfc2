// The members that the gateway adds to the answers of providers.

import { z } from "zod";

export const cost = z.number().nullable().describe("USD; null when the price is not known.");
export const costReason = z.string().optional().describe("Why the cost is not known.");
export const providerTime = z.number().describe("Seconds that the provider took.");

export const answerMembers = {
  provider: z.string().describe("The provider that answered."),
  cost,
  provider_time: providerTime,
};

/** The model is named by the provider: it may differ from the name in the request. */
export const answeringModel = z.string().describe("The model that produced the answer, as the provider names it.");
