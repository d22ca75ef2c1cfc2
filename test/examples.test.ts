// The requests that ship in examples/: each one, sent to a gateway that was just started, has an answer in the shape of its task.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { listExamples, tryExample } from "../examples/try-all.ts";
import { findTask } from "../src/contract/tasks.ts";
import { localEngines } from "../src/engines/local/list.ts";
import { findPackage } from "../src/engines/local/resolve-package.ts";
import { type Json, SchemaDocument } from "../src/lib/json-schema/schema.ts";
import { fitsSchema } from "../src/lib/json-schema/schema-check.ts";
import { type Gateway, startGateway } from "./support/gateway.ts";
import { startVendor, type Vendor } from "./support/vendor.ts";

const examples = await listExamples();
const root = join(import.meta.dir, "..");

let vendor: Vendor;
let gateway: Gateway;
let key: string;

beforeAll(async () => {
  vendor = await startVendor();
  gateway = await startGateway({ vendor, jobWorkers: 1, env: { SWITCHYARD_LOCAL_WORKERS: "1" } });
  key = await gateway.createKey();
}, 30_000);

afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

function engineOf(model: string) {
  const [feature, subfeature, , ...named] = model.split("/");
  const task = `${feature}/${subfeature}`;
  return localEngines.find(
    (engine) => engine.task === task && (named.length === 0 || engine.models?.includes(named.join("/"))),
  );
}

describe("each request", () => {
  for (const example of examples) {
    test(`${example.name} is answered as its task says, or with the command that adds its engine`, async () => {
      const { model } = example.request;
      const [feature = "", subfeature = ""] = model.split("/");
      const engine = engineOf(model);
      if (engine === undefined) throw new Error(`no local engine does ${model}`);
      const { status, output, message } = await tryExample({ url: gateway.url, key }, example);
      if (engine.packages.some((name) => findPackage(name) === null)) {
        expect(status).toBe(503);
        expect(output).toBeNull();
        expect(message).toContain(`engines add ${engine.group}`);
        return;
      }
      expect(message).toBeNull();
      expect(status).toBe(200);
      const task = findTask(feature, subfeature);
      const schema = new SchemaDocument(task?.outputSchema ?? {}, Number.POSITIVE_INFINITY);
      expect(fitsSchema(output as Json, schema.root, schema)).toBe(true);
    }, 120_000);
  }
});

test("every local task has a request, but for those that need faces", () => {
  const shown = new Set(examples.map(({ request }) => request.model.split("/").slice(0, 2).join("/")));
  const missing = localEngines.map(({ task }) => task).filter((task) => !shown.has(task));
  expect([...new Set(missing)]).toEqual(["image/face_compare"]);
});

test("every file that a page or a request names is there", async () => {
  const page = await Bun.file(join(root, "examples", "README.md")).text();
  const named = [...page.matchAll(/examples\/[\w/-]+\.\w+/g)].map(([path]) => path);
  const beside = examples.flatMap(({ name, request }) =>
    Object.values(request.input).flatMap((value) =>
      typeof value === "string" && value.startsWith("@") ? [join("examples/tasks", name, "..", value.slice(1))] : [],
    ),
  );
  expect(beside.length).toBeGreaterThan(8);
  for (const path of [...named, ...beside]) expect(await Bun.file(join(root, path)).exists(), path).toBe(true);
});
