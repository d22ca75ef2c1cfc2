// Checks that the gateway may listen on its ports.

import type { Config } from "../config.ts";
import { messageOf, SettingError } from "../errors.ts";
import type { Log } from "../log.ts";

type Ports = Pick<Config, "host" | "port" | "adminPort" | "metricsPort">;

/**
 * The serving processes share a port, and would share it with another program as well. So each port is first bound exclusively. During a
 * reload, ports of the current configuration are skipped, because the gateway itself uses them.
 */
export function refuseTakenPorts(config: Config, current: Config | null): Config {
  const { host } = config;
  const own = current === null || current.host !== host ? [] : [current.port, current.adminPort, current.metricsPort];
  for (const [setting, port] of listPorts(config)) if (!own.includes(port)) refuseTakenPort(host, port, setting);
  return config;
}

/** A worker beside a gateway often has the same settings. It then works without a port of its own. */
export function leaveTakenMetricsPort(config: Config, current: Config | null, log: Log): Config {
  const { host, metricsPort } = config;
  if (metricsPort === null || (current?.metricsPort === metricsPort && current.host === host)) return config;
  try {
    refuseTakenPort(host, metricsPort, "SWITCHYARD_METRICS_PORT");
    return config;
  } catch (error) {
    log.warn("the metrics of this worker are not served", { error: messageOf(error) });
    return { ...config, metricsPort: null };
  }
}

/** The ports of the configuration that this machine does not let the gateway use, as errors. */
export function findPortProblems(config: Ports): Error[] {
  return listPorts(config).flatMap(([setting, port]) => {
    try {
      refuseTakenPort(config.host, port, setting);
      return [];
    } catch (error) {
      return [error as Error];
    }
  });
}

function listPorts({ port, adminPort, metricsPort }: Ports): [setting: string, port: number][] {
  const all: [string, number | null][] = [
    ["SWITCHYARD_PORT", port],
    ["SWITCHYARD_ADMIN_PORT", adminPort],
    ["SWITCHYARD_METRICS_PORT", metricsPort],
  ];
  return all.flatMap(([setting, value]) => (value === null ? [] : [[setting, value] as [string, number]]));
}

function refuseTakenPort(host: string, port: number, setting: string): void {
  try {
    Bun.listen({ hostname: host, port, exclusive: true, socket: { data() {} } }).stop(true);
  } catch (cause) {
    const { code } = cause as { readonly code?: string };
    if (code === "EADDRINUSE")
      throw new Error(
        `${setting}: port ${port} on ${host} is in use by another program. Stop it or set another ${setting}.`,
        { cause },
      );
    if (code === "EACCES" || code === "EPERM")
      throw new Error(
        `${setting}: this user may not listen on port ${port} on ${host}. Set ${setting} to 1024 or above.`,
        { cause },
      );
    throw new SettingError(
      "SWITCHYARD_HOST",
      `this machine cannot listen on '${host}'${code === undefined ? "" : ` (${code})`}; set an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all`,
      { cause },
    );
  }
}
