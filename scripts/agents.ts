// Runs a coding agent that is installed on this machine through the task of ten steps, in front of the strict vendors of the tests:
//
//   node bin/bun.mjs run scripts/agents.ts claude <path of the program> [provider/model …]
//   node bin/bun.mjs run scripts/agents.ts codex <path of the program> [provider/model …]
//
// The programs (npm's @anthropic-ai/claude-code and @openai/codex) are too large for the tools of the tests. To see that they call
// nothing but the gateway, run this under `unshare -n` with the loopback interface up.

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAgentGateway, startAgentVendors } from "../test/support/agent-vendors/index.ts";
import { closingText, stepCount } from "../test/support/agent-vendors/plan.ts";

const usualModels = [
  ...["openai/gpt-5.6", "deepseek/deepseek-v4-pro", "moonshot/kimi-k3", "zai/glm-5.3", "gemini/gemini-3.5-flash"],
  ...["minimax/MiniMax-M3", "bedrock/openai.gpt-oss-120b-1:0"],
];
const timeoutMs = 120_000;
const task = "Do the ten steps.";

interface Run {
  readonly program: string;
  readonly model: string;
  readonly url: string;
  readonly key: string;
  readonly home: string;
}

interface Command {
  readonly arguments: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const agents: Readonly<Record<string, (run: Run) => Promise<Command>>> = {
  claude: async ({ program, model, url, key }) => ({
    arguments: [program, "-p", task, "--allowedTools", "Bash"],
    env: {
      ANTHROPIC_BASE_URL: `${url}/v3`,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  }),
  async codex({ program, model, url, key, home }) {
    const settings = [
      `model = "${model}"`,
      'model_provider = "switchyard"',
      'web_search = "disabled"',
      "[model_providers.switchyard]",
      'name = "switchyard"',
      `base_url = "${url}/v3"`,
      'env_key = "SWITCHYARD_KEY"',
      'wire_api = "responses"',
      "[analytics]",
      "enabled = false",
    ];
    await Bun.write(join(home, "config.toml"), settings.join("\n"));
    const options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    return { arguments: [program, "exec", ...options, task], env: { CODEX_HOME: home, SWITCHYARD_KEY: key } };
  },
};

const [name = "", program = "", ...models] = process.argv.slice(2);
const prepare = Object.hasOwn(agents, name) ? agents[name] : undefined;
if (prepare === undefined || program === "")
  throw new Error("usage: scripts/agents.ts claude|codex <path of the program> [provider/model …]");

const vendor = await startAgentVendors();
const gateway = await startAgentGateway(vendor);
const key = await gateway.createKey();
let failures = 0;
for (const model of models.length > 0 ? models : usualModels) {
  vendor.clear();
  const home = await mkdtemp(join(tmpdir(), "switchyard-agent-"));
  await mkdir(join(home, "work"));
  const command = await prepare({ program, model, url: gateway.url, key, home });
  const child = Bun.spawn([...command.arguments], {
    cwd: join(home, "work"),
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ...command.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMs,
  });
  const [output, problems] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const isDone = (await child.exited) === 0 && output.includes(closingText) && vendor.requests.length > stepCount;
  if (!isDone) failures += 1;
  console.log(`${isDone ? "done  " : "failed"} ${model}: ${vendor.requests.length} requests`);
  if (!isDone) console.log(`${output}\n${problems}`.slice(-2_000));
  await rm(home, { recursive: true, force: true });
}
await gateway.stop();
await vendor.stop();
process.exit(failures === 0 ? 0 : 1);
