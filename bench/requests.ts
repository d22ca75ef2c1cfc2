// The bytes that every contestant gets: the same request, the same answer.

export type Call = { url: string; headers: Record<string, string>; body: string };

const sentence =
  "Please read the following paragraph carefully and answer in one short sentence without any preamble. ";

/** About 1.3 KB: a system prompt, a short exchange and a question. */
export function plainRequest(model: string): string {
  return JSON.stringify({ model, temperature: 0.2, max_tokens: 256, messages: conversation() });
}

export function streamRequest(model: string): string {
  return JSON.stringify({ model, stream: true, stream_options: { include_usage: true }, messages: conversation() });
}

function conversation() {
  return [
    { role: "system", content: sentence.repeat(3) },
    { role: "user", content: sentence.repeat(3) },
    { role: "assistant", content: sentence.repeat(2) },
    { role: "user", content: sentence.repeat(3) },
  ];
}

/** About 1 KB. It holds neither a quote of nginx's configuration language nor a dollar sign, so nginx can serve it as it is. */
export const chatCompletionAnswer = JSON.stringify({
  id: "chatcmpl-bench-0001",
  object: "chat.completion",
  created: 1700000000,
  model: "bench-model",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "The paragraph says the same thing several times. ".repeat(14).trim() },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 300, completion_tokens: 150, total_tokens: 450 },
  system_fingerprint: "fp_bench",
});
