// An https server on loopback whose certificate is for the names of tests: hooks.example.com, *.hooks.example and a few more.

import { join } from "node:path";

const folder = join(import.meta.dir, "tls");

/** What a process has to be told by NODE_EXTRA_CA_CERTS to trust these receivers. */
export const receiversCertificate = join(folder, "receivers-certificate.pem");

/** The certificate of these receivers and its key, or others that nobody vouches for. */
export function tlsFilesOf(isStrange: boolean): { readonly certificate: string; readonly key: string } {
  if (isStrange) return { certificate: join(folder, "certificate.pem"), key: join(folder, "key.pem") };
  return { certificate: receiversCertificate, key: join(folder, "receivers-key.pem") };
}

export interface TlsReceiver {
  readonly port: number;
  stop(): void;
}

export interface TlsReceiverOptions {
  readonly address: string;
  readonly answer: (request: Request) => Response | Promise<Response>;
}

export function startTlsReceiver({ address, answer }: TlsReceiverOptions): TlsReceiver {
  const { certificate, key } = tlsFilesOf(false);
  const server = Bun.serve({
    port: 0,
    hostname: address,
    tls: { cert: Bun.file(certificate), key: Bun.file(key) },
    fetch: answer,
  });
  return { port: server.port ?? 0, stop: () => void server.stop(true) };
}
