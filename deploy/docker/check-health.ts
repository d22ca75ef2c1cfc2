// The health check of the image: exit code 0 while the gateway serves requests. An argument names another port, such as that of a worker.

const { SWITCHYARD_PORT: ownPort = "8080" } = process.env;
const [port = ownPort] = process.argv.slice(2);
// With TLS, whether a variable or switchyard.yaml names the certificate, a port serves HTTPS only.
const status = (await readStatus("http")) ?? (await readStatus("https"));
process.exit(status === 200 ? 0 : 1);

/** Null: nothing answered. */
async function readStatus(scheme: "http" | "https"): Promise<number | null> {
  // The certificate names the public host, not this address.
  const options = { signal: AbortSignal.timeout(2_000), tls: { rejectUnauthorized: false } };
  const response = await fetch(`${scheme}://127.0.0.1:${port}/readyz`, options).catch(() => null);
  return response?.status ?? null;
}
