// What a client of the Messages format can be told of an answer in another format, and as what.

import { type Failure, type Outcome, toGatewayFailure } from "./outcome.ts";

/** A message is one answer, says why it ended in fewer words, and has no member for a refusal's text but its content. */
export function toMessagesView({ choices, usage, failure }: Outcome): Outcome {
  const [choice] = choices;
  if (choice === undefined) return { choices, usage, failure };
  const { text, refusal } = choice;
  // Without an id no client could answer a call.
  const calls = choice.calls.map((call) => ({ ...call, id: call.id || null }));
  const finish = refusal === null ? toKnownFinish(choice.finish) : "content_filter";
  const told = refusal === null ? text : [...text, refusal];
  return { choices: [{ ...choice, text: told, calls, finish }], usage, failure };
}

function toKnownFinish(finish: string | null): string {
  if (finish === "function_call") return "tool_calls";
  return finish !== null && ["stop", "length", "tool_calls", "content_filter"].includes(finish) ? finish : "stop";
}

/** https://platform.claude.com/docs/en/api/errors: the type of each of the gateway's failures. */
const types: Readonly<Record<string, string>> = {
  provider_rejected_request: "invalid_request_error",
  model_not_found: "not_found_error",
  provider_rate_limited: "rate_limit_error",
  provider_auth_failed: "api_error",
  provider_error: "api_error",
  provider_timeout: "timeout_error",
};

/** In the words of the chat format where the type is the one that belongs to them, else as it is. */
export function fromMessagesFailure(vendor: Failure | null): (status: number | null, type: string) => Failure {
  return (status, type) => {
    if (vendor !== null && types[vendor.code] === type) return { status, code: vendor.code };
    // In the middle of an answer the client itself may have found what is wrong.
    return status === null && type === "" ? toGatewayFailure(null) : { status, code: type };
  };
}
