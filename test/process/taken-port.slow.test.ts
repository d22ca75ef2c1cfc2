// A second gateway on a port that is taken: it refuses to start and says why, and the first one keeps serving.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { gatewayProgram, runProgram } from "../support/run-program.ts";
import { startVendor } from "../support/vendor.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-taken-port-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function serve(env: Readonly<Record<string, string>>): Promise<{ code: number; output: string }> {
  const settings = { SWITCHYARD_DATA_DIR: join(folder, "data"), SWITCHYARD_WORKERS: "1", ...env };
  const options = { cwd: folder, env: { PATH: process.env["PATH"], ...settings } };
  const { code, out, errors } = await runProgram([...gatewayProgram, "serve"], options);
  return { code, output: out + errors };
}

test("a second gateway on the same port ends with a message, and the first one keeps serving", async () => {
  const vendor = await startVendor();
  const first = await startGatewayProcess({ vendor });
  try {
    const { port } = new URL(first.url);
    const { code, output } = await serve({ SWITCHYARD_PORT: port });
    expect(code).toBe(1);
    expect(output).toContain(`SWITCHYARD_PORT: port ${port} on 127.0.0.1 is in use by another program.`);
    expect(output).not.toContain("serves on");
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
  } finally {
    await first.stop();
    await vendor.stop();
  }
});

test("the admin port is checked as well", async () => {
  using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { code, output } = await serve({ SWITCHYARD_PORT: "0", SWITCHYARD_ADMIN_PORT: String(other.port) });
  expect([code, output.includes(`SWITCHYARD_ADMIN_PORT: port ${other.port}`)]).toEqual([1, true]);
});
