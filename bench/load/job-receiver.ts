// A receiver of webhooks over TLS that counts them, and a second listener, without TLS, that tells how many there were.

export {};

interface Options {
  readonly certificate: string;
  readonly key: string;
}

const { certificate, key } = JSON.parse(process.argv[2] ?? "{}") as Options;
const seen = new Set<string>();
let requests = 0;
let lastAt = 0;

const receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  tls: { cert: certificate, key },
  async fetch(request) {
    const { job_id } = (await request.json()) as { job_id: string };
    seen.add(job_id);
    requests++;
    lastAt = performance.timeOrigin + performance.now();
    return new Response(null, { status: 204 });
  },
});
const teller = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => Response.json({ jobs: seen.size, requests, lastAt }),
});
console.log(JSON.stringify({ receiverPort: receiver.port, tellerPort: teller.port }));
// Whoever started it closes its standard input when it is not needed any more.
for await (const _ of Bun.stdin.stream());
process.exit(0);
