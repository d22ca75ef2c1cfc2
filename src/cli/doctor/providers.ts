// Checks of the providers: the form of their keys and, when asked, whether they answer.

import type { Config } from "../../config.ts";
import { lookUp } from "../../lib/look-up.ts";
import { createTicker } from "../../lib/ticker.ts";
import type { Log } from "../../log.ts";
import { isSetUp, setUpProviders } from "../../provider-setup.ts";
import { findKeyProblems } from "../../providers/check-keys.ts";
import type { Provider } from "../../providers/configure.ts";
import { HttpClient } from "../../providers/http-client.ts";
import { rows } from "../../providers/index.ts";
import { type Probe, probeDeployment } from "../../providers/probe.ts";
import { readProxyRule } from "../../services.ts";
import { type Finding, report } from "./finding.ts";
import type { ClockReading } from "./machine.ts";

const probeTimeoutMs = 10_000;
const tickMs = 50;

export function checkProviders(config: Config): Finding[] {
  const { ok, note } = report("providers");
  const names = listProviders(config).map(({ name }) => name);
  const listed =
    names.length === 0
      ? note(
          "No provider is configured.",
          "Set the key of a provider, such as OPENAI_API_KEY; docs/providers.md lists them.",
        )
      : ok(`${names.length} configured: ${names.join(", ")}.`);
  return [listed, ...checkKeys(config)];
}

function checkKeys(config: Config): Finding[] {
  const { ok, warning, problem } = report("provider keys");
  const problems = findKeyProblems(rows, config.providers, config.readProviderSetting);
  if (problems.length === 0) return [ok("Every key has the form of a key.")];
  return problems.map(({ setting, message, isCertain }) =>
    (isCertain ? problem : warning)(
      `${setting} ${message}.`,
      `Copy the key again from the provider's console into ${setting}.`,
    ),
  );
}

const remedies: Readonly<Record<string, string>> = {
  provider_auth_failed: "Create a new key in the provider's console, and check that it may be used from here.",
  provider_unreachable: "Check the address, DNS, the firewall and HTTPS_PROXY.",
  provider_timeout: "Check the network between this machine and the provider, and HTTPS_PROXY.",
};

/** Calls every configured provider once; an address that costs nothing is asked. */
export async function callProviders(
  config: Config,
  log: Log,
): Promise<{ readonly findings: Finding[]; readonly clocks: ClockReading[] }> {
  const { ok, problem } = report("provider calls");
  const probes = await probeProviders(config, log);
  const findings = probes.map(({ deployment, baseUrl, latencyMs, failure }: Probe) =>
    failure === null
      ? ok(`${deployment} answered after ${latencyMs} ms.`)
      : problem(
          `${deployment} (${baseUrl}): ${failure.message}`,
          lookUp(remedies, failure.code) ?? "Read the provider's status page, and try again.",
        ),
  );
  const clocks = probes.flatMap(({ deployment, dateMs, askedAt, latencyMs }) =>
    dateMs === null ? [] : [{ source: deployment, aheadMs: toSkew(dateMs, askedAt, latencyMs) }],
  );
  return { findings, clocks };
}

/** A Date header has whole seconds, and was written some time between request and answer: within that span, there is no skew. */
function toSkew(dateMs: number, askedAt: number, latencyMs: number): number {
  const [earliest, latest] = [askedAt - 1_000, askedAt + latencyMs];
  if (dateMs >= earliest && dateMs <= latest) return 0;
  return dateMs > latest ? dateMs - latest : dateMs - earliest;
}

function listProviders(config: Config): Provider[] {
  return [...setUpProviders(config).providers.values()].filter(isSetUp);
}

/** Calls every deployment once, all at the same time. */
async function probeProviders(config: Config, log: Log): Promise<Probe[]> {
  const providers = listProviders(config);
  for (const provider of providers) for (const secret of provider.secrets) log.hide(secret);
  const ticker = createTicker(tickMs);
  const http = new HttpClient(ticker, readProxyRule(config));
  const tools = { http, ticker, timeoutMs: probeTimeoutMs };
  const probe = (provider: Provider) =>
    (provider.deployments.length > 0 ? provider.deployments : provider.taskDeployments).map((deployment) =>
      probeDeployment(provider, deployment, tools),
    );
  try {
    return await Promise.all(providers.flatMap(probe));
  } finally {
    http.close();
    ticker.close();
  }
}
