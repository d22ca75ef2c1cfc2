// The health check of the image, against real gateways.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProgram } from "../support/run-program.ts";
import { testGateway } from "../support/test-gateway.ts";

const script = join(import.meta.dir, "../../deploy/docker/check-health.ts");
const file = (name: string) => join(import.meta.dir, "../support/tls", name);
const certificate = { SWITCHYARD_TLS_CERT: file("certificate.pem"), SWITCHYARD_TLS_KEY: file("key.pem") };

/** The check sees none of the gateway's settings: they may be in switchyard.yaml. */
async function check(url: string): Promise<number | null> {
  const options = { cwd: import.meta.dir, env: { PATH: process.env["PATH"] ?? "" } };
  return (await runProgram([process.execPath, script, new URL(url).port], options)).code;
}

test.each([
  ["HTTP", {}],
  ["HTTPS", certificate],
])("a gateway that serves %s is healthy until it stops", async (_name, env) => {
  const gateway = await testGateway({ env });
  expect(await check(gateway.url)).toBe(0);
  await gateway.stop();
  expect(await check(gateway.url)).toBe(1);
});
