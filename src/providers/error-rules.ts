// What the error of a vendor means where its status alone would mislead. The rows of vendors declare it as data, with the page that it
// comes from; what holds for all vendors is declared here.

export interface ErrorRule {
  /** The status that the vendor answers with; absent: any. */
  readonly status?: number;
  /** What the body has to hold; absent: anything. */
  readonly says?: RegExp;
  readonly means: ErrorMeaning;
}

/**
 * `rate_limit`: a rate or a quota is used up, and another offer may do better. `rejected`: this request is refused, by its content
 * or its size, and would be refused again. `credentials`: the gateway's key or account is not accepted. `failed`: the vendor gave
 * the request up, and it may succeed elsewhere.
 */
export type ErrorMeaning = "rate_limit" | "rejected" | "credentials" | "failed";

const statuses: Readonly<Record<ErrorMeaning, number>> = {
  rate_limit: 429,
  rejected: 400,
  credentials: 401,
  failed: 502,
};

// Codes under which vendors refuse a content, whatever the status: https://openrouter.ai/docs/api/reference/errors-and-debugging,
// https://platform.stability.ai/docs/api-reference (403 content_moderation) and the chat format's own content_filter.
const contentCodes =
  /"(?:code|type|name|status|error_type)"\s*:\s*"(?:content_(?:filter|moderation|policy_violation|against_policy)|moderation_blocked|data_inspection_failed)"/i;

const ofAllVendors: readonly ErrorRule[] = [401, 402, 403].map((status) => ({
  status,
  says: contentCodes,
  means: "rejected",
}));

/**
 * Of vendors of tasks: the credits of the account or plan are used up, and another vendor may have some. As documented by
 * https://docs.firecrawl.dev/api-reference/errors, https://developers.deepgram.com/docs/errors and
 * https://docs.mindee.com/integrations/problem-database; no vendor documents another meaning.
 */
export const spentCredits: ErrorRule = { status: 402, means: "rate_limit" };

/** The status that an error should have had, by the first rule that fits; undefined when its own is right. */
export function readErrorRules(
  rules: readonly ErrorRule[] | undefined,
  status: number,
  body: string,
): number | undefined {
  for (const rule of [...(rules ?? []), ...ofAllVendors]) {
    const fits = (rule.status === undefined || rule.status === status) && (rule.says?.test(body) ?? true);
    if (fits) return statuses[rule.means];
  }
  return undefined;
}
