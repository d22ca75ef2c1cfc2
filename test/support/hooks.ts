// A receiver of webhooks at https://hooks.example.com, and the settings with which a gateway reaches it.

import { startDnsServer } from "./dns-server.ts";
import { receiversCertificate, startTlsReceiver, type TlsReceiverOptions } from "./tls-receiver.ts";

export interface Hooks {
  readonly port: number;
  /** `path`: begins with a slash. */
  urlOf(path: string): string;
  /** Settings of the gateway. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const name = "hooks.example.com";
const address = "127.0.0.1";

export async function startHooks(answer: TlsReceiverOptions["answer"]): Promise<Hooks> {
  const dns = await startDnsServer({ [name]: [[address]] });
  const receiver = startTlsReceiver({ address, answer });
  return {
    port: receiver.port,
    urlOf: (path) => `https://${name}:${receiver.port}${path}`,
    env: {
      SWITCHYARD_EGRESS_ALLOW: "127.0.0.0/8",
      SWITCHYARD_EGRESS_DNS: dns.address,
      NODE_EXTRA_CA_CERTS: receiversCertificate,
    },
    async stop() {
      receiver.stop();
      await dns.stop();
    },
  };
}
