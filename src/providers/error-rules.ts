// Corrects misleading statuses of vendors' errors. The rows of vendors have their own rules, with the page that documents them; the rules here
// apply to all vendors.

export interface ErrorRule {
  /** The vendor's status; absent: any. */
  readonly status?: number;
  /** A pattern of the body; absent: any body. */
  readonly says?: RegExp;
  readonly means: ErrorMeaning;
}

/**
 * `rate_limit`: a rate or quota is exhausted, and another offer may succeed. `rejected`: the vendor refuses the content or size of the
 * request, and would refuse it again. `credentials`: the vendor refuses the gateway's key or account. `failed`: the vendor gave up, and the
 * request may succeed elsewhere.
 */
export type ErrorMeaning = "rate_limit" | "rejected" | "credentials" | "failed";

const statuses: Readonly<Record<ErrorMeaning, number>> = {
  rate_limit: 429,
  rejected: 400,
  credentials: 401,
  failed: 502,
};

// Codes of refused content, whatever the status: https://openrouter.ai/docs/api/reference/errors-and-debugging,
// https://platform.stability.ai/docs/api-reference (403 content_moderation) and the chat format's own content_filter.
const contentCodes =
  /"(?:code|type|name|status|error_type)"\s*:\s*"(?:content_(?:filter|moderation|policy_violation|against_policy)|moderation_blocked|data_inspection_failed)"/i;

const commonRules: readonly ErrorRule[] = [401, 402, 403].map((status) => ({
  status,
  says: contentCodes,
  means: "rejected",
}));

/**
 * For tasks: the credits of the account or plan are exhausted, and another vendor may succeed. As documented by
 * https://docs.firecrawl.dev/api-reference/errors, https://developers.deepgram.com/docs/errors and
 * https://docs.mindee.com/integrations/problem-database; no vendor documents another meaning.
 */
export const spentCredits: ErrorRule = { status: 402, means: "rate_limit" };

/** The status that the error should have, by the first matching rule; undefined when its own is right. */
export function readErrorRules(
  rules: readonly ErrorRule[] | undefined,
  status: number,
  body: string,
): number | undefined {
  for (const rule of [...(rules ?? []), ...commonRules]) {
    const isMatch = (rule.status === undefined || rule.status === status) && (rule.says?.test(body) ?? true);
    if (isMatch) return statuses[rule.means];
  }
  return undefined;
}
