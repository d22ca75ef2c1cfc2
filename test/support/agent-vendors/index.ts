// Every vendor of this folder behind one port, told apart by the first step of the path, and a gateway that calls them.

import { answer } from "../answers.ts";
import { awsSettings } from "../dialect-vendors/bedrock.ts";
import { providerSecret } from "../gateway-settings.ts";
import { type TestGateway, testGateway } from "../test-gateway.ts";
import { startVendor, type Vendor } from "../vendor.ts";
import { bedrockAgent } from "./bedrock.ts";
import { deepseekChat, groqChat, minimaxChat, moonshotChat, openaiChat, openrouterChat, zaiChat } from "./chat.ts";
import { geminiAgent } from "./gemini.ts";
import { deepseekResponses, openaiResponses } from "./responses.ts";

const chatVendors = {
  openai: openaiChat,
  deepseek: deepseekChat,
  groq: groqChat,
  minimax: minimaxChat,
  moonshot: moonshotChat,
  openrouter: openrouterChat,
  zai: zaiChat,
} as const;

const responsesVendors: Readonly<Record<string, typeof openaiResponses>> = {
  openai: openaiResponses,
  deepseek: deepseekResponses,
};

export function startAgentVendors(): Promise<Vendor> {
  return startVendor((request) => {
    const [, name = ""] = request.path.split("/");
    if (name === "gemini") return geminiAgent(request);
    if (name === "bedrock") return bedrockAgent(request);
    const serve = request.path.endsWith("/responses")
      ? responsesVendors[name]
      : chatVendors[name as keyof typeof chatVendors];
    return serve === undefined ? answer(404, { error: { message: "no such vendor" } }) : serve(request);
  });
}

/** A gateway whose providers are these vendors. A refusal is not repeated. */
export function startAgentGateway(vendor: Vendor): Promise<TestGateway> {
  const names = [...Object.keys(chatVendors), "gemini"];
  const providers = Object.fromEntries(
    names.map((name) => [name, { base_url: `http://127.0.0.1:${vendor.port}/${name}`, api_key: providerSecret }]),
  );
  const bedrock = { base_url: `http://127.0.0.1:${vendor.port}/bedrock` };
  const env = { ...awsSettings, SWITCHYARD_RETRIES: "0" };
  return testGateway({ vendor, env, config: { providers: { ...providers, bedrock } } });
}
