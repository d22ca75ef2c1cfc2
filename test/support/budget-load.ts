// Sends the same chat completion many times at once, in a process of its own, and prints what the callers were told: how many calls had which
// status, and the sum of their costs. Arguments: address, key, number of calls, calls at once.

const [url = "", key = "", count = "1", atOnce = "1"] = process.argv.slice(2);
const body = JSON.stringify({ model: "mock/echo", max_tokens: 3, messages: [{ role: "user", content: "hi" }] });
const statuses: Record<string, number> = {};
let toldPico = 0n;
let left = Number(count);

async function send(): Promise<void> {
  while (left-- > 0) {
    let status = "broken";
    try {
      const response = await fetch(`${url}/v3/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body,
      });
      const answer = (await response.json()) as { cost?: number; error?: { code: string } };
      status = answer.error?.code ?? String(response.status);
      if (response.status === 200) toldPico += BigInt(Math.round((answer.cost ?? Number.NaN) * 1e12));
    } catch {
      // The process that had the call was killed.
    }
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, send));
process.stdout.write(JSON.stringify({ statuses, toldPico: String(toldPico) }));

export {};
