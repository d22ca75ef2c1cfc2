// The pages of jobs, files and the audit log in a real browser, at a gateway with a worker that delivers webhooks to a real receiver.

import { afterAll, expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStorage } from "../../src/cli/demo.ts";
import { verifyWebhook } from "../../src/jobs/webhook-signature.ts";
import { answer, hang } from "../support/answers.ts";
import { sharedBrowser, type TestPage, waitForCopied } from "../support/browser.ts";
import { checkAppearances, openDashboard, problemsOf, visit, waitForCount } from "../support/dashboard-page.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { openTestStorage } from "../support/open-test-storage.ts";
import { receiversCertificate, startTlsReceiver } from "../support/tls-receiver.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const hostileTexts = [
  `<img src=x onerror="window.hostile=1">`,
  `"><script>window.hostile=1</script>`,
  "javascript:window.hostile=1",
  "</title><svg onload=window.hostile=1>",
];

const dataFolder = await mkdtemp(join(tmpdir(), "switchyard-dashboard-"));
const storage = await openTestStorage({ dataDir: dataFolder });
const computeCost = () => ({ pico: 2_000_000_000, version: "1" });
await fillStorage(storage, { dataDir: dataFolder, seed: 1, end: Date.now(), callsPerDay: 5, computeCost });
await storage.close();

interface Received {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const received: Received[] = [];
const receiver = startTlsReceiver({
  address: "127.0.0.2",
  answer: async (request) => {
    received.push({ headers: request.headers, body: new Uint8Array(await request.arrayBuffer()) });
    return new Response(null, { status: 204 });
  },
});
const vendor = await startVendor();
const unanswered = { model: "text/moderation/own", input: { text: "x", language: "en" } };
const gateway = await startGatewayProcess({
  vendor,
  jobWorkers: 1,
  env: {
    SWITCHYARD_DATA_DIR: dataFolder,
    SWITCHYARD_EGRESS_ALLOW: "127.0.0.2/32",
    SWITCHYARD_CAPTURE_CONTENT: "true",
    NODE_EXTRA_CA_CERTS: receiversCertificate,
  },
  config: {
    providers: {
      own: {
        ...{ dialect: "openai", base_url: `http://127.0.0.1:${vendor.port}/tasks/v1`, api_key: providerSecret },
        tasks: ["text/moderation"],
      },
    },
  },
});
afterAll(async () => {
  await gateway.stop();
  receiver.stop();
  await vendor.stop();
  await rm(dataFolder, { recursive: true, force: true });
});
const browser = await sharedBrowser();

async function createKey(members: object): Promise<string> {
  const made = (await gateway.manage("POST", "/keys", { name: "made by a test", ...members })) as { key: string };
  return made.key;
}

async function submit(key: string, body: object): Promise<string> {
  const response = await fetch(`${gateway.url}/v3/universal-ai/async`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { job_id } = (await response.json()) as { job_id?: string };
  if (job_id === undefined) throw new Error(`the job was refused with ${response.status}`);
  return job_id;
}

async function upload(key: string, name: string, content: string): Promise<void> {
  const form = new FormData();
  form.append("file", new Blob([content]), name);
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
  expect(response.status).toBe(200);
}

async function untilStatus(id: string, isReached: (job: { status: string; runs: number }) => boolean): Promise<void> {
  await waitFor("the job", async () => {
    return isReached((await gateway.manage("GET", `/jobs/${id}`)) as { status: string; runs: number }) || null;
  });
}

async function signIn(path: string, key = gateway.adminKey): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, path, { key });
  await opened.page.locator("#content h1").waitFor();
  return opened;
}

const inferenceKey = await createKey({ name: "program", team: "platform" });
const sentiment = { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } };

test("jobs are found by filters in the address, and a job shows its deliveries", async () => {
  await using opened = await signIn("/jobs");
  const { page } = opened;
  await page.getByText("running").first().waitFor();
  await page.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Failed or cancelled" }).click();
  await page.waitForURL(/status=fail/);
  await page.getByText("success", { exact: true }).first().waitFor({ state: "detached" });
  await page.goto(`${gateway.url}/dashboard/jobs?task=audio`);
  await page.getByRole("row").filter({ hasText: "failed" }).getByRole("link").click();
  await page.getByText("The receiver answered with status 503.").first().waitFor();
  await waitForCount(page.getByText("503", { exact: true }), 4);
  await page.goto(`${gateway.url}/dashboard/jobs?task=no-such-task`);
  await page.getByText("No job fits these filters").waitFor();
  await page.getByRole("button", { name: "Remove the filters" }).click();
  await page.getByText("ocr/ocr_async").first().waitFor();
  expect(problemsOf(opened)).toEqual([]);
});

test("a webhook is sent again with the keyboard, and the receiver can verify its signature", async () => {
  const webhook_receiver = `https://127.0.0.2:${receiver.port}/hook?token=hidden`;
  const id = await submit(inferenceKey, { ...sentiment, webhook_receiver });
  await waitFor("the first delivery", () => received.length === 1);
  await using opened = await signIn(`/jobs/${id}`);
  const { page } = opened;
  await page.getByText("204").first().waitFor();
  await page.getByRole("button", { name: "Send webhook again" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).focus();
  await page.keyboard.press("Enter");
  await waitFor("the second delivery", () => received.length === 2);
  await page.getByText("delivered").nth(1).waitFor();
  await waitForCount(page.getByRole("list", { name: "Deliveries, newest first" }).locator("> li"), 2);
  expect(await page.getByText("token").count()).toBe(0);

  const set = (await (await fetch(`${gateway.url}/v3/webhooks/keys`)).json()) as { keys: Record<string, string>[] };
  const keys = set.keys.map((key) => createPublicKey({ key, format: "jwk" }));
  const verifying = {
    rsa: keys.filter(({ asymmetricKeyType }) => asymmetricKeyType === "rsa"),
    ed25519: keys.filter(({ asymmetricKeyType }) => asymmetricKeyType === "ed25519"),
  };
  for (const { headers, body } of received) {
    const checks = verifyWebhook({ body, header: (name) => headers.get(name), keys: verifying, nowMs: Date.now() });
    expect(checks.map(({ scheme, isGood }) => [scheme, isGood])).toEqual([
      ["X-Service-Signature", true],
      ["Standard Webhooks", true],
    ]);
  }
  expect(received[0]?.headers.get("webhook-id")).not.toBe(received[1]?.headers.get("webhook-id") ?? null);
  expect(problemsOf(opened)).toEqual([]);
});

test("a running job is cancelled after a question, and the audit log says who did it", async () => {
  vendor.on(unanswered.model, [hang]);
  const id = await submit(inferenceKey, unanswered);
  await untilStatus(id, ({ runs }) => runs === 1);
  await using opened = await signIn(`/jobs/${id}`);
  const { page } = opened;
  await page.getByText("running", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Cancel job" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await untilStatus(id, ({ status }) => status === "processing");
  await page.getByRole("button", { name: "Cancel job" }).click();
  await dialog.getByRole("button", { name: "Cancel job" }).click();
  await page.getByText("cancelled", { exact: true }).first().waitFor();
  await waitForCount(page.getByRole("button", { name: "Cancel job" }), 0);

  await page.goto(`${gateway.url}/dashboard/audit?target=${id}`);
  const row = page.getByRole("row").filter({ hasText: "job.cancel" });
  await row.getByText("platform").waitFor();
  await row.getByRole("button").focus();
  await page.keyboard.press("Enter");
  const record = page.getByRole("dialog");
  await record.getByRole("row").filter({ hasText: "status" }).waitFor();
  expect(await record.getByRole("row").filter({ hasText: "status" }).innerText()).toMatch(/processing\s+fail/);
  await opened.checkAccessibility();
  expect(problemsOf(opened)).toEqual([]);
});

test("each role sees and does what it may", async () => {
  vendor.on(unanswered.model, [hang]);
  const running = await submit(inferenceKey, unanswered);
  const finished = await submit(inferenceKey, {
    ...sentiment,
    webhook_receiver: `https://127.0.0.2:${receiver.port}/hook`,
  });
  await untilStatus(finished, ({ status }) => status === "success");
  const changes = /Cancel job|Send webhook again|^Delete|^Download|Show the result/;
  const viewer = await createKey({ kind: "management", role: "viewer" });
  const ofOther = await createKey({ kind: "management", role: "operator", team: "research" });
  const operator = await createKey({ kind: "management", role: "operator", team: "platform" });
  {
    await using opened = await signIn(`/jobs/${running}`, viewer);
    for (const path of [`/jobs/${running}`, `/jobs/${finished}`, "/files", "/audit"]) {
      if (path === "/files") await upload(inferenceKey, "a file.txt", "x");
      await opened.page.goto(`${gateway.url}/dashboard${path}`);
      await opened.page.locator("#content").getByText("platform").first().waitFor();
      expect(await opened.page.getByRole("button", { name: changes }).count(), path).toBe(0);
      expect(await opened.page.getByRole("link", { name: /^Download/ }).count(), path).toBe(0);
    }
  }
  {
    await using opened = await signIn("/jobs", ofOther);
    await opened.page.getByText("text/summarize").first().waitFor();
    expect(await opened.page.getByText("program", { exact: true }).count()).toBe(0);
    await opened.page.goto(`${gateway.url}/dashboard/jobs/${running}`);
    await opened.page.getByText("There is no such job.").waitFor();
  }
  {
    await using opened = await signIn(`/jobs/${finished}`, operator);
    await opened.page.getByText("Only administrators read results").waitFor();
    await opened.page.getByRole("button", { name: "Send webhook again" }).waitFor();
    await opened.page.goto(`${gateway.url}/dashboard/jobs/${running}`);
    await opened.page.getByRole("button", { name: "Cancel job" }).click();
    await opened.page.getByRole("dialog").getByRole("button", { name: "Cancel job" }).click();
    await opened.page.getByText("cancelled", { exact: true }).first().waitFor();
  }
});

test("files with hostile names are shown as text, downloaded as they are, and deleted after a question", async () => {
  const [name = ""] = hostileTexts;
  await upload(inferenceKey, name, "<script>window.hostile=1</script>");
  await upload(inferenceKey, "‮gnp.exe", "x");
  const { items } = (await gateway.manage("GET", "/files?team=platform")) as { items: { file_name: string }[] };
  const stored = items.find((file) => file.file_name.includes("onerror"))?.file_name ?? "";
  await using opened = await signIn("/files?team=platform");
  const { page } = opened;
  await page.getByText(stored, { exact: true }).first().waitFor();
  await waitForCount(page.getByText("invoice-2026-1184.pdf"), 0);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: `Download ${stored}` }).click(),
  ]);
  expect(await Bun.file((await download.path()) ?? "").text()).toBe("<script>window.hostile=1</script>");
  await page.getByRole("button", { name: `Delete ${stored}` }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: `Delete ${stored}` }).waitFor({ state: "detached" });
  await page.goto(`${gateway.url}/dashboard/audit?action=file`);
  await page.getByText("file.delete").first().waitFor();
  await page.getByText("file.read").first().waitFor();
  await page.getByText(stored, { exact: true }).first().waitFor();
  expect(await page.evaluate("window.hostile")).toBeUndefined();
  // The browser says so when a link of the page becomes a download.
  expect(problemsOf(opened).filter((problem) => !problem.includes("/content"))).toEqual([]);
});

test("hostile results and errors of jobs never run", async () => {
  vendor.on(unanswered.model, answer(400, { error: { message: hostileTexts.join("\n") } }));
  const failed = await submit(inferenceKey, unanswered);
  await untilStatus(failed, ({ status }) => status === "fail");
  const echo = { model: "text/anonymization/sandbox", input: { text: hostileTexts.join("\n"), language: "en" } };
  const good = await submit(inferenceKey, echo);
  await untilStatus(good, ({ status }) => status === "success");
  await using opened = await signIn(`/jobs/${failed}`);
  const { page } = opened;
  await page.getByText("Why it failed").waitFor();
  await page.goto(`${gateway.url}/dashboard/jobs/${good}`);
  await page.getByRole("button", { name: "Show the result" }).click();
  const shown = page.getByRole("region", { name: "the result" });
  await shown.waitFor();
  await page.getByRole("button", { name: "Copy the result" }).click();
  expect(JSON.parse(await waitForCopied(opened, "window.hostile"))).toBeObject();
  expect(await page.evaluate("window.hostile")).toBeUndefined();
  expect(problemsOf(opened)).toEqual([]);
});

test("what was captured of a request is shown to administrators on request, and never runs", async () => {
  const content = `${hostileTexts.join("\n")} my key is sk-proj-ABCDEFGHIJKLMNOP`;
  const send = async (stream: boolean) => {
    const response = await fetch(`${gateway.url}/v3/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${inferenceKey}`, "content-type": "application/json", "x-note": "a note" },
      body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content }], stream }),
    });
    await response.text();
    return response.headers.get("x-request-id") ?? "";
  };
  const ids = [await send(false), await send(true)];
  const readContent = async (id: string) =>
    (await gateway.manage("GET", `/requests/${id}/content`).catch(() => ({ items: [] }))) as { items: object[] };
  for (const id of ids)
    await waitFor("the captured request", async () => (await readContent(id)).items.length > 0 || null);
  await using opened = await signIn(`/requests/${ids[0]}`);
  const { page } = opened;
  for (const id of ids) {
    await page.goto(`${gateway.url}/dashboard/requests/${id}`);
    await page.getByRole("button", { name: "Show the content" }).click();
    await page
      .locator(".captured-text")
      .getByText(hostileTexts[0] ?? "")
      .waitFor();
    const shown = await page.locator("#content").innerText();
    expect(shown).toContain("my key is [redacted]");
    expect(shown).not.toContain("sk-proj");
    await page
      .getByText(/\d+ headers/)
      .first()
      .click();
    await page.getByText("a note").waitFor();
    expect(await page.evaluate("window.hostile")).toBeUndefined();
  }
  await opened.checkAccessibility("#content");
  const operator = await createKey({ kind: "management", role: "operator" });
  await using other = await signIn(`/requests/${ids[0]}`, operator);
  await other.page.getByText("One attempt").waitFor();
  expect(await other.page.getByText("Headers and content").count()).toBe(0);
  expect(problemsOf(opened)).toEqual([]);
});

test("content and results are read once for each time that a person asks for them", async () => {
  const webhook_receiver = `https://127.0.0.2:${receiver.port}/hook`;
  const id = await submit(inferenceKey, { ...sentiment, webhook_receiver });
  await untilStatus(id, ({ status }) => status === "success");
  const response = await fetch(`${gateway.url}/v3/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${inferenceKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(await response.json()).toBeObject();
  const request = response.headers.get("x-request-id") ?? "";
  await using opened = await signIn("/jobs");
  const { page } = opened;
  const reads: string[] = [];
  page.on("request", (sent) => {
    if (/\/(?:result|content)$/.test(sent.url())) reads.push(new URL(sent.url()).pathname);
  });
  /** The person comes back to the tab, and then to the network, each time when all that the page has read is out of date. */
  const comeBack = async (path: string) => {
    const showTab = () => page.evaluate(`document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`);
    const reconnect = async () => {
      await page.context().setOffline(true);
      await page.context().setOffline(false);
    };
    for (const act of [showTab, reconnect]) {
      await page.clock.fastForward(60_000);
      const refreshed = page.waitForResponse((one) => one.url().endsWith(path));
      await act();
      await refreshed;
    }
  };
  await page.clock.install();
  await page.goto(`${gateway.url}/dashboard/jobs/${id}`);
  await page.getByRole("button", { name: "Show the result" }).click();
  await page.getByRole("region", { name: "the result" }).waitFor();
  await comeBack(`/v3/manage/jobs/${id}`);
  await page.getByRole("button", { name: "Send webhook again" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const { items } = (await gateway.manage("GET", `/audit?action=job.read_result&target=${id}`)) as { items: object[] };
  expect(items).toHaveLength(1);

  await waitFor("the request", () => gateway.manage("GET", `/requests/${request}`).catch(() => null));
  await visit(opened, `/requests/${request}`);
  await page.route(/\/content$/, (route) => route.abort(), { times: 1 });
  await page.getByRole("button", { name: "Show the content" }).click();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Try again" }).waitFor({ state: "detached" });
  await comeBack(`/v3/manage/requests/${request}`);
  const content = `/v3/manage/requests/${request}/content`;
  expect(reads).toEqual([`/v3/manage/jobs/${id}/result`, content, content]);
  // Its clock would be that of the next test.
  await page.close();
});

test("the audit log is filtered, shared by its address, and downloaded as CSV", async () => {
  const key = await gateway.manage("POST", "/keys", { name: hostileTexts[0], team: "support", tags: { a: "b" } });
  const { id } = key as { id: string };
  await gateway.manage("PATCH", `/keys/${id}`, { tags: { a: "c", more: hostileTexts[1] } });
  await using opened = await signIn(`/audit?target=${id}`);
  const { page } = opened;
  await page.getByRole("row").filter({ hasText: "key.update" }).click();
  await page.waitForURL(/record=/);
  await page.reload();
  const record = page.getByRole("dialog");
  const changed = record.getByRole("row").filter({ hasText: "tags.a" });
  await changed.waitFor();
  expect(await changed.innerText()).toMatch(/tags\.a\s+b\s+c/);
  await record.getByText(hostileTexts[1] ?? "").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "CSV" }).click(),
  ]);
  const csv = await Bun.file((await download.path()) ?? "").text();
  expect(csv.split("\r\n").filter((line) => line.includes(id))).toHaveLength(2);
  expect(await page.evaluate("window.hostile")).toBeUndefined();
});

test("a job and a record are accessible and fit, at 1440 pixels in light and at 390 pixels in dark colours", async () => {
  const { items: jobs } = (await gateway.manage("GET", "/jobs?task=audio")) as { items: { job_id: string }[] };
  const { items: records } = (await gateway.manage("GET", "/audit?action=key.update")) as { items: { id: string }[] };
  await using opened = await signIn("/jobs");
  for (const path of [`/jobs/${jobs[0]?.job_id}`, `/jobs/${jobs[1]?.job_id}`, `/audit?record=${records[0]?.id}`]) {
    await visit(opened, path);
    const isJob = path.startsWith("/jobs");
    await opened.page
      .getByText(isJob ? path.slice("/jobs/".length) : "Before")
      .first()
      .waitFor();
    if (isJob) await opened.page.getByText("Webhook").first().waitFor();
    // A record is in a dialog, which is outside of the content.
    await checkAppearances(opened, isJob ? "#content" : undefined);
  }
  expect(problemsOf(opened)).toEqual([]);
});
