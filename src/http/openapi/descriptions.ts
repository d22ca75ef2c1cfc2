// What the members of a request mean, for schemas that hold only their rules: component → member → text.

const key = {
  name: "What people call the key.",
  kind: "`inference` calls models, `management` manages the gateway, `sandbox` is free and answered by the sandbox.",
  owner: "Whom the key belongs to.",
  allowed_models: "Patterns such as `sandbox/*`; null allows every model.",
  rate_limit: "Null: no limit.",
  budget:
    "What the key may spend, in USD. Null: no limit. Only an amount of 0, which refuses every request, is enforced yet; others are refused.",
  expires_at: "When the key stops working. Null: never.",
  tags: "Pairs that every call of the key carries in usage reports.",
  enabled: "Whether the key works. It can be switched on again.",
};

const keyAnswer = {
  ...key,
  masked: "Enough of the secret to recognise it by.",
  scopes: "Which endpoints the key opens.",
  last_used_at: "Null: not used yet.",
  revoked_at: "Null: not revoked.",
};

const { kind: _kindStays, ...changeable } = key;

export const memberDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ChatCompletionRequest: {
    messages: "The conversation so far, oldest first.",
    stream: "Send the answer as server-sent events while it is produced.",
    stream_options: "`include_usage` adds a last chunk with usage and cost.",
    temperature: "How freely the model chooses: 0 is the most predictable.",
    top_p: "Choose among the likeliest tokens that make up this share.",
    n: "How many answers to produce.",
    max_tokens: "The longest answer, in tokens. Older name of `max_completion_tokens`.",
    max_completion_tokens: "The longest answer, in tokens, reasoning included.",
    presence_penalty: "Positive values steer towards new topics.",
    frequency_penalty: "Positive values steer away from repetition.",
    stop: "Texts at which the answer ends.",
    logprobs: "Return the probabilities of the answer's tokens.",
    top_logprobs: "How many alternatives to return for each token.",
    tools: "Functions that the model may ask the client to call.",
    tool_choice: "`none`, `auto`, `required`, or one function by name.",
    parallel_tool_calls: "Whether one answer may ask for several calls.",
    response_format: "Text, any JSON, or JSON that follows a schema.",
    seed: "The same seed and request aim at the same answer.",
    user: "A stable name of the end user, for the provider's abuse detection.",
    routing: "How to choose among several offers.",
    session_id: "Keeps a conversation on one provider, so that its prompt cache stays warm.",
    strict_parameters: "Refuse the request when a parameter would be dropped.",
  },
  ChatCompletion: {
    id: "The provider's id of the answer.",
    created: "Unix time.",
    choices: "The answers: one, unless `n` asked for more.",
    usage: "Tokens that were counted.",
    provider: "Who answered.",
  },
  CreateKeyRequest: { ...key, scopes: "Which endpoints the key opens; all when absent. Management keys have none." },
  UpdateKeyRequest: { ...changeable, scopes: "Which endpoints the key opens." },
  RotateKeyRequest: { grace_seconds: "How long the old secret keeps working." },
  Key: keyAnswer,
  KeyWithSecret: { ...keyAnswer, key: "The secret, shown this once." },
};
