// Chooses a port for the gateway if the system is to do so, and checks that the gateway may listen on its ports.

import type { Config } from "../config.ts";
import { messageOf, SettingError } from "../errors.ts";
import type { Log } from "../log.ts";

type Ports = Pick<Config, "host" | "port" | "adminPort" | "metricsPort">;

/**
 * The serving processes share a port, and would share it with another program as well. So each port is first bound exclusively. `current`:
 * the configuration that a reload replaces. The gateway itself uses its ports.
 */
export function preparePorts(written: Config, current: Config | null): Config {
  const config = written.port === 0 ? { ...written, port: choosePort(written, current) } : written;
  for (const [setting, port] of listPorts(config)) {
    const isOwn = current !== null && listPorts(current).some(([, own]) => own === port);
    refuseTakenPort(config.host, port, { setting, ownHost: isOwn ? current.host : null });
  }
  return config;
}

/** One port for all processes, which a reload keeps: with 0, each process would get a port of its own. */
function choosePort({ host, adminPort, metricsPort }: Config, current: Config | null): number {
  const isOther = (port: number) => port === adminPort || port === metricsPort;
  if (current !== null && !isOther(current.port)) return current.port;
  for (;;) {
    const port = bindPort(host, 0, "SWITCHYARD_PORT");
    if (!isOther(port)) return port;
  }
}

/** A worker beside a gateway often has the same settings. It then works without a port of its own. */
export function leaveTakenMetricsPort(config: Config, current: Config | null, log: Log): Config {
  const { host, metricsPort } = config;
  if (metricsPort === null) return config;
  const ownHost = current?.metricsPort === metricsPort ? current.host : null;
  try {
    refuseTakenPort(host, metricsPort, { setting: "SWITCHYARD_METRICS_PORT", ownHost });
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
      bindPort(config.host, port, setting);
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

interface PortUse {
  readonly setting: string;
  /** Where the gateway itself listens on the port; null if it does not. */
  readonly ownHost: string | null;
}

function refuseTakenPort(host: string, port: number, { setting, ownHost }: PortUse): void {
  if (ownHost === host) return;
  try {
    bindPort(host, port, setting);
  } catch (error) {
    // The old and the new address may overlap, such as 127.0.0.1 and 0.0.0.0. Processes of both configurations can listen there.
    if (ownHost === null || !isInUse(error)) throw error;
  }
}

function isInUse(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code === "EADDRINUSE";
}

/** Binds the port exclusively for a moment, and returns it: for 0, one that the system chose. Throws when this machine does not allow it. */
function bindPort(host: string, port: number, setting: string): number {
  try {
    const listener = Bun.listen({ hostname: host, port, exclusive: true, socket: { data() {} } });
    listener.stop(true);
    return listener.port;
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
