// Collections of faces with the engine of this machine, over HTTP, with a real store. The faces are those that a package of the group brings.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findPackage } from "../../src/engines/local/resolve-package.ts";
import { draw, type Gallery, readGallery } from "../quality/vision/pictures.ts";
import { type TestGateway, testGateway } from "../support/test-gateway.ts";

const isAdded = ["@vladmandic/human", "@tensorflow/tfjs-core"].every((name) => findPackage(name));
const path = "/v3/universal-ai/collections";
let gateway: TestGateway;
let gallery: Gallery;
let key: string;

beforeAll(async () => {
  if (!isAdded) return;
  gateway = await testGateway({ env: { SWITCHYARD_LOCAL_WORKERS: "1" } });
  key = await gateway.createKey();
  gallery = await readGallery();
});
afterAll(async () => gateway?.stop());

async function send(method: string, at: string, body?: unknown, as = key): Promise<Record<string, unknown>> {
  const response = await fetch(`${gateway.url}${at}`, {
    method,
    headers: { authorization: `Bearer ${as}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}

async function upload(bytes: Uint8Array): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob([bytes.slice()]), "face.png");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
  return ((await response.json()) as { file_id: string }).file_id;
}

async function addFace(id: string, line: number, column: number): Promise<string> {
  const added = await send("POST", `${path}/${id}/faces`, { file: await upload(await gallery.cell(line, column)) });
  expect(added["status"]).toBe(200);
  const [face] = added["faces"] as { face_id: string; confidence: number }[];
  expect(face?.confidence).toBeGreaterThan(0.5);
  return face?.face_id ?? "";
}

async function recognise(id: string, picture: Uint8Array) {
  const input = { collection_id: id, file: await upload(picture) };
  const answer = await send("POST", "/v3/universal-ai", { model: "image/face_recognition/local", input });
  return answer as { status: number; output?: { items: { face_id: string; confidence: number }[] }; cost?: number };
}

describe.skipIf(!isAdded)("faces on this machine", () => {
  test("a person is recognised among others, and no longer after the face was deleted", async () => {
    const { collection_id: id } = (await send("POST", path, { provider: "local" })) as { collection_id: string };
    const known = await addFace(id, 0, 0);
    for (const column of [0, 1, 2]) await addFace(id, 4, column);
    const found = await recognise(id, await gallery.cell(0, 1));
    expect(found.cost).toBe(0);
    expect(found.output?.items[0]).toMatchObject({ face_id: known });
    expect(found.output?.items[0]?.confidence).toBeGreaterThan(0.5);
    expect((await send("GET", `${path}/${id}`))["face_count"]).toBe(4);
    expect((await send("DELETE", `${path}/${id}/faces/${known}`))["status"]).toBe(200);
    const gone = await recognise(id, await gallery.cell(0, 1));
    expect(gone.output?.items.map(({ face_id }) => face_id)).not.toContain(known);
  }, 300_000);

  test("an empty collection has no matches, and a picture without a face is refused at its member", async () => {
    const { collection_id: id } = (await send("POST", path, { provider: "local" })) as { collection_id: string };
    expect((await recognise(id, await gallery.cell(0, 1))).output).toEqual({ items: [] });
    const blank = await draw(64, 64, () => [255, 255, 255]);
    const file = await upload(blank);
    const refused = await send("POST", `${path}/${id}/faces`, { file });
    expect(refused).toMatchObject({ status: 422, detail: [{ loc: ["body", "file"] }] });
    expect((await recognise(id, blank)).status).toBe(422);
    expect((await send("GET", `${path}/${id}`))["face_count"]).toBe(0);
  }, 300_000);
});
