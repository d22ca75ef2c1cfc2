// Local servers that behave like Voyage AI (https://docs.voyageai.com/reference/embeddings-api) and Jina AI
// (https://api.jina.ai/docs), vendors of embeddings. The wire formats are documented; the vectors are invented.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { vectorOf } from "./mind.ts";
import { bodyOf, demand, failOnDemand, listOf, type Members, oneOf, serve, textOf, Violation } from "./wire.ts";

export function voyage(request: VendorRequest): Script {
  const run = () => {
    const body = readBody(request, ["input_type", "truncation", "output_dimension", "output_dtype", "encoding_format"]);
    if (body["input_type"] !== undefined) oneOf(body["input_type"], "input_type", ["query", "document"]);
    const texts = textsOf(body);
    demand(texts.length <= 1_000, "input: at most 1000");
    // Without a wish the vendor orders them as it likes: each says which one it is.
    const data = toData(texts, Number(body["output_dimension"] ?? 4)).reverse();
    return answer(200, { object: "list", data, model: body["model"], usage: { total_tokens: 3 * texts.length } });
  };
  return serve(request, run, (_status, message) => ({ detail: message }));
}

export function jina(request: VendorRequest): Script {
  const run = () => {
    const options = ["task", "dimensions", "normalized", "late_chunking", "truncate", "embedding_type"];
    const body = readBody(request, options);
    if (body["task"] !== undefined)
      oneOf(body["task"], "task", ["retrieval.query", "retrieval.passage", "text-matching", "classification"]);
    const texts = textsOf(body);
    const tokens = 3 * texts.length;
    return answer(200, {
      object: "list",
      data: toData(texts, Number(body["dimensions"] ?? 4)),
      model: body["model"],
      usage: { total_tokens: tokens, prompt_tokens: tokens },
    });
  };
  return serve(request, run, (_status, message) => ({ detail: message }));
}

/** `options`: the members that the vendor takes besides the model and the input. */
function readBody(request: VendorRequest, options: readonly string[]): Members {
  demand(request.headers["authorization"]?.startsWith("Bearer "), "no key");
  if (!request.path.endsWith("/v1/embeddings")) throw new Violation("no such path", 404);
  const body = bodyOf(request, "body", ["model", "input", ...options]);
  failOnDemand(textOf(body["model"], "model"));
  return body;
}

function textsOf(body: Members): readonly string[] {
  return listOf(body["input"], "input").map((text) => textOf(text, "input"));
}

function toData(texts: readonly string[], size: number): Members[] {
  return texts.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text, size) }));
}
