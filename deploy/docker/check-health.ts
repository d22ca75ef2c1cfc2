// The health check of the image: exit code 0 while the gateway serves requests. An argument names another port, such as that of a worker.

const { SWITCHYARD_PORT: ownPort = "8080", SWITCHYARD_TLS_CERT: certificate = "" } = process.env;
const [port = ownPort] = process.argv.slice(2);
const scheme = certificate === "" || port !== ownPort ? "http" : "https";
// The certificate names the public host, not this address.
const options = { signal: AbortSignal.timeout(4_000), tls: { rejectUnauthorized: false } };
const response = await fetch(`${scheme}://127.0.0.1:${port}/readyz`, options).catch(() => null);
process.exit(response?.status === 200 ? 0 : 1);
