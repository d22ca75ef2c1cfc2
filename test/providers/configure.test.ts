// From rows and settings to providers: one configuration for models and tasks.

import { describe, expect, test } from "bun:test";
import { configureProviders, type Declared, type Provider } from "../../src/providers/configure.ts";
import { findProvider } from "../../src/providers/find-provider.ts";
import { rows } from "../../src/providers/index.ts";

type Settings = Readonly<Record<string, string>>;

function configure(settings: Settings, declared: Readonly<Record<string, Declared>> = {}) {
  return configureProviders(rows, declared, (name) => settings[name] ?? null);
}

function providerOf(name: string, settings: Settings, declared: Readonly<Record<string, Declared>> = {}): Provider {
  const provider = findProvider(configure(settings, declared), name);
  if (provider === undefined) throw new Error(`there is no provider ${name}`);
  return provider;
}

describe("one provider's settings", () => {
  test("serve models and tasks at one address", () => {
    const { deployments, taskDeployments, configured } = providerOf("openai", { OPENAI_API_KEY: "sk-1" });
    expect(configured).toBe(true);
    expect(taskDeployments).toBe(deployments);
  });

  test("serve models and tasks that have different addresses", () => {
    const key = "AIza-key";
    const google = providerOf("google", { GOOGLE_API_KEY: key });
    expect(google.deployments[0]).toMatchObject({
      baseUrl: "https://generativelanguage.googleapis.com/v1beta",
      headers: { "x-goog-api-key": key },
    });
    expect(google.taskDeployments[0]?.services.get("vision")?.baseUrl).toBe("https://vision.googleapis.com");
    const microsoft = providerOf("azure", { MICROSOFT_API_KEY: "k", MICROSOFT_RESOURCE: "acme" });
    expect(microsoft.deployments[0]).toMatchObject({
      baseUrl: "https://acme.openai.azure.com",
      headers: { "api-key": "k" },
    });
    expect(microsoft.taskDeployments[0]).toMatchObject({
      baseUrl: "https://acme.cognitiveservices.azure.com",
      headers: { "ocp-apim-subscription-key": "k" },
    });
    const aws = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_REGION: "eu-west-1" };
    const amazon = providerOf("amazon", aws);
    expect(amazon.deployments[0]?.baseUrl).toBe("https://bedrock-runtime.eu-west-1.amazonaws.com");
    expect(amazon.taskDeployments[0]?.services.get("polly")?.baseUrl).toBe("https://polly.eu-west-1.amazonaws.com");
  });

  test("an address for the whole provider replaces that of its models and of every service", () => {
    const google = providerOf("google", { GOOGLE_API_KEY: "k", GOOGLE_BASE_URL: "http://127.0.0.1:9/proxy/" });
    expect(google.deployments[0]?.baseUrl).toBe("http://127.0.0.1:9/proxy/v1beta");
    expect(google.taskDeployments[0]?.services.get("vision")?.baseUrl).toBe("http://127.0.0.1:9/proxy");
  });
});

describe("settings under the name of a model API", () => {
  test("serve its models alone, and take precedence there", () => {
    const { deployments, taskDeployments } = providerOf("google", {
      GEMINI_API_KEY: "of-models",
      GEMINI_BASE_URL: "http://127.0.0.1:9/v1beta",
      GOOGLE_API_KEY: "of-all",
    });
    expect(deployments[0]).toMatchObject({
      baseUrl: "http://127.0.0.1:9/v1beta",
      headers: { "x-goog-api-key": "of-models" },
    });
    expect(taskDeployments[0]?.services.get("vision")?.baseUrl).toBe("https://vision.googleapis.com");
    const only = providerOf("google", { GEMINI_API_KEY: "of-models" });
    expect([only.configured, only.missingTaskSetting]).toEqual([true, "GOOGLE_API_KEY"]);
  });

  test("are read from the file under both names", () => {
    for (const [name, provider] of [
      ["gemini", "google"],
      ["azure", "microsoft"],
      ["bedrock", "amazon"],
    ] as const) {
      const declared = { [name]: { base_url: "http://127.0.0.1:9/own", api_key: "k-1", models: ["a"] } };
      const found = providerOf(name, {}, declared);
      expect([found.name, found.configured, found.deployments[0]?.baseUrl]).toEqual([
        provider,
        true,
        "http://127.0.0.1:9/own",
      ]);
      expect(found.row.chat?.models).toEqual([{ id: "a" }]);
      expect(found.secrets).toContain("k-1");
    }
    const several = {
      azure: { base_url: "http://127.0.0.1:9", deployments: [{ api_key: "k-1" }, { name: "b", api_key: "" }] },
    };
    const { deployments, sources } = providerOf("microsoft", {}, several);
    expect(deployments.map(({ name }) => name)).toEqual(["microsoft#1"]);
    expect(sources.map(({ deployment }) => deployment)).toEqual(["azure#1", "azure#b", "microsoft"]);
  });

  test("the sources of credentials have the names of the deployments", () => {
    const listed = [{ name: "primary", api_key: "k-1" }, { api_key: "k-2" }, { name: "europe", api_key: "k-3" }];
    for (const declared of [listed, listed.slice(0, 1)]) {
      const { deployments, sources } = providerOf("openai", {}, { openai: { deployments: declared } });
      const names = deployments.map(({ name }) => name);
      expect(names).toEqual(["openai#primary", "openai#2", "openai#europe"].slice(0, declared.length));
      expect(sources.map(({ deployment }) => deployment)).toEqual(names);
    }
  });

  test("a service account for the whole provider is for tasks only", () => {
    const credentials = JSON.stringify({
      type: "authorized_user",
      client_id: "c",
      client_secret: "s",
      refresh_token: "r",
    });
    const { configured, taskDeployments } = providerOf("google", {}, { google: { api_key: credentials } });
    expect([configured, taskDeployments.length]).toEqual([false, 1]);
  });
});

describe("names", () => {
  test("a name that several providers share means the first whose models are configured", () => {
    const vertex = {
      GOOGLE_APPLICATION_CREDENTIALS: "ya29.token",
      GOOGLE_CLOUD_PROJECT: "p",
      GOOGLE_CLOUD_LOCATION: "global",
    };
    expect(providerOf("google", vertex).name).toBe("vertexai");
    expect(providerOf("google", { ...vertex, GEMINI_API_KEY: "k" }).name).toBe("google");
    expect(providerOf("google", {}).name).toBe("google");
    expect(providerOf("vertex", vertex).name).toBe("vertexai");
  });

  test("a second name is one for settings as well", () => {
    expect(
      providerOf("vertexai", {}, { vertex: { base_url: "http://127.0.0.1:9", api_key: "ya29.t" } }).configured,
    ).toBe(true);
    expect(providerOf("assembly", { ASSEMBLYAI_API_KEY: "k" }).missingTaskSetting).toBeNull();
  });

  test("a provider that only performs tasks has no models to call", () => {
    const { deployments, configured, taskDeployments } = providerOf("deepgram", { DEEPGRAM_API_KEY: "k" });
    expect([deployments.length, configured, taskDeployments.length]).toEqual([0, false, 1]);
  });
});
