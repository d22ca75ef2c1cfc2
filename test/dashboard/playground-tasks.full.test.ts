// The task playground in a real browser: the form of each task, results as they should be seen, jobs, refusals, and hostile texts.

import { expect, test } from "bun:test";
import { answer, until } from "../support/answers.ts";
import { type PageOptions, sharedBrowser, type TestPage } from "../support/browser.ts";
import { fitsWidth, openDashboard, problemsOf, waitForCount } from "../support/dashboard-page.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { write, writePlainPdf } from "../support/plain-pdf.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

/** Each of them would set `window.hostile`, or leave the page, if it were taken for markup. */
const hostile = [
  `<img src=x onerror="window.hostile=1">`,
  `"><script>window.hostile=1</script>`,
  "javascript:window.hostile=1",
  "</title><svg onload=window.hostile=1>",
] as const;

const vendor = await startVendor(() => answer(404, { error: { message: "no such path" } }));
const declared = { dialect: "openai", base_url: `http://127.0.0.1:${vendor.port}/tasks/v1`, api_key: providerSecret };
const answered = [
  "ocr/ocr",
  "image/object_detection",
  "text/named_entity_recognition",
  "web/search",
  "web/map",
  "web/crawl_async",
  "web/research_async",
  "ocr/financial_parser",
  "ocr/ocr_tables_async",
];
const gateway = await sharedGateway({
  vendor,
  jobWorkers: 1,
  env: { SWITCHYARD_LOCAL_WORKERS: "1" },
  config: { providers: { inhouse: { ...declared, tasks: answered } } },
});
const browser = await sharedBrowser();

async function openTask(task: string, options: PageOptions = {}): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, `/playground/tasks?task=${task}`, options);
  await runButton(opened).waitFor();
  return opened;
}

function runButton({ page }: TestPage) {
  return page.getByRole("button", { name: "Run", exact: true });
}

/** Presses Run, and waits for the result. */
async function run(opened: TestPage): Promise<void> {
  await runButton(opened).click();
  await opened.page.locator(".run-facts").waitFor();
}

/** Of the first run on the page. */
async function runForAnswer<Output>(opened: TestPage): Promise<Output> {
  const response = opened.page.waitForResponse((one) => one.url().endsWith("/v3/universal-ai") && one.status() === 200);
  await run(opened);
  return ((await (await response).json()) as { readonly output: Output }).output;
}

test("text recognition draws each box where the answer says, linked with its row", async () => {
  await using opened = await openTask("ocr/ocr/inhouse");
  const { page } = opened;
  await page.getByText("invoice.png").waitFor();
  const texts = ["Invoice", "Due date", "Item", "Price", "Total GBP"];
  const boxes = texts.map((text, index) => ({
    text,
    left: 0.1 + index / 20,
    top: 0.15 * index,
    width: 0.3,
    height: 0.05,
  }));
  vendor.next(answer(200, { output: { text: texts.join("\n"), bounding_boxes: boxes } }));
  await run(opened);
  await page.locator(".boxed-page img").waitFor();
  const drawn = (await page.evaluate(`(() => {
    const page = document.querySelector(".boxed-page img").getBoundingClientRect();
    return [...document.querySelectorAll(".boxed-box")].map((box) => {
      const { left, top, width, height } = box.getBoundingClientRect();
      return { left: (left - page.left) / page.width, top: (top - page.top) / page.height, width: width / page.width, height: height / page.height };
    });
  })()`)) as readonly Record<"left" | "top" | "width" | "height", number>[];
  expect(drawn).toHaveLength(boxes.length);
  for (const [index, box] of boxes.entries())
    for (const side of ["left", "top", "width", "height"] as const)
      expect(drawn[index]?.[side], `${box.text} ${side}`).toBeCloseTo(box[side], 2);
  // By mouse and by keyboard, from the row to the box; by mouse, from the box to the row.
  const row = page.getByRole("button", { name: /Total GBP/ });
  await row.hover();
  const id = await row.getAttribute("data-row");
  await page.locator(`[data-box="${id}"][data-active]`).waitFor();
  await page.mouse.move(0, 0);
  await page.getByRole("button", { name: /Due date/ }).focus();
  await page.locator("[data-active] .boxed-tag", { hasText: "Due date" }).waitFor();
  await page.locator(`[data-box="${id}"]`).hover();
  await page.locator(`[data-row="${id}"][data-active]`).waitFor();
  await opened.checkAccessibility();
  await page.getByRole("tab", { name: "Raw" }).click();
  await page.getByRole("region", { name: "Raw answer" }).getByText("bounding_boxes").waitFor();
  expect(problemsOf(opened)).toEqual([]);
});

test("each page of a PDF file is drawn under its boxes", async () => {
  await using opened = await openTask("ocr/ocr_async/local");
  const { page } = opened;
  const bytes = writePlainPdf([
    { content: write(72, 700, "The first page has a line", { size: 24 }) },
    { content: write(120, 300, "The second page has another", { size: 24 }) },
  ]);
  await page.getByRole("button", { name: /Remove the file/ }).click();
  const files = { name: "two-pages.pdf", mimeType: "application/pdf", buffer: Buffer.from(bytes) };
  await page.locator("input[type=file]").setInputFiles(files);
  await page.getByText("two-pages.pdf").waitFor();
  await run(opened);
  await waitForCount(page.locator(".boxed-page img"), 2);
  // What is dark on the picture of each page lies in the box of its line.
  const outside = await page.evaluate(`Promise.all([...document.querySelectorAll(".boxed-page")].map(async (sheet) => {
    const image = sheet.querySelector("img");
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const frame = image.getBoundingClientRect();
    const box = sheet.querySelector(".boxed-box").getBoundingClientRect();
    let dark = 0, out = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] > 128) continue;
      dark += 1;
      const x = frame.left + ((at / 4) % canvas.width) / canvas.width * frame.width;
      const y = frame.top + Math.floor(at / 4 / canvas.width) / canvas.height * frame.height;
      if (x < box.left - 3 || x > box.right + 3 || y < box.top - 3 || y > box.bottom + 3) out += 1;
    }
    return dark === 0 ? 1 : out / dark;
  }))`);
  expect(outside).toEqual([0, 0]);
  expect(problemsOf(opened)).toEqual([]);
});

test("speech can be played, in a voice that the provider has", async () => {
  await using opened = await openTask("audio/tts/local");
  await opened.page.getByRole("combobox", { name: "Voice" }).click();
  const voice = opened.page.getByRole("option").first();
  const name = await voice.innerText();
  await voice.click();
  const sent = opened.page.waitForRequest((one) => one.url().endsWith("/v3/universal-ai"));
  await run(opened);
  expect((await sent).postDataJSON()).toMatchObject({ input: { voice: name } });
  await opened.page.locator("audio").waitFor();
  const duration = await opened.page.evaluate(`new Promise((resolve, reject) => {
    const audio = document.querySelector("audio");
    const tell = () => resolve(audio.duration);
    audio.addEventListener("error", () => reject(new Error(audio.error.message)));
    if (audio.readyState > 0) tell();
    else audio.addEventListener("loadedmetadata", tell);
  })`);
  expect(duration).toBeGreaterThan(1);
  expect(problemsOf(opened)).toEqual([]);
});

test("entities are marked in the text, with the same provider, time and cost as the answer", async () => {
  await using opened = await openTask("text/named_entity_recognition/local");
  const { items } = await runForAnswer<{ readonly items: readonly { entity: string; category: string }[] }>(opened);
  await opened.page.locator("mark.entity").first().waitFor();
  const marks = await opened.page.locator("mark.entity").allInnerTexts();
  for (const { entity, category } of items) expect(marks.join("\n")).toContain(`${entity}${category}`);
  expect(await opened.page.locator(".run-facts").innerText()).toMatch(/local[\s\S]*(ms|s)[\s\S]*free/);
  await opened.checkAccessibility();
});

test("a table is a table, and the job shows its progress until then", async () => {
  await using opened = await openTask("ocr/ocr_tables_async/inhouse");
  const { page } = opened;
  await page.getByText("table.png").waitFor();
  const cell = (text: string, row: number, column: number) => ({
    ...{ text, row_index: row, col_index: column, row_span: 1, col_span: 1, confidence: 0.9, is_header: row === 0 },
    bounding_box: { left: 0, top: 0, width: 0.1, height: 0.1 },
  });
  const rows = [
    ["Month", "Visitors"],
    ["March", "1610"],
  ].map((texts, row) => ({ cells: texts.map((text, column) => cell(text, row, column)) }));
  const output = { pages: [{ tables: [{ rows, num_rows: 2, num_cols: 2 }] }], num_pages: 1 };
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  vendor.next([until(promise), ...answer(200, { output })]);
  await runButton(opened).click();
  await page.getByText("The job runs").waitFor();
  await page.getByRole("progressbar", { name: "Progress of the job" }).waitFor();
  await opened.checkAccessibility();
  finish();
  await page.getByRole("columnheader", { name: "Visitors" }).waitFor();
  await page.getByRole("cell", { name: "1610" }).waitFor();
  expect(problemsOf(opened)).toEqual([]);
});

test("a job can be cancelled", async () => {
  await using opened = await openTask("ocr/ocr_async/sandbox/hang");
  const { page } = opened;
  await page.getByText("invoice.png").waitFor();
  await runButton(opened).click();
  await page.getByText(/^Job /).waitFor();
  const jobId = await page.locator(".running code").innerText();
  const cancelled = page.waitForResponse((one) => one.url().endsWith(`/${jobId}/cancel`));
  await page.getByRole("button", { name: "Cancel" }).click();
  expect((await cancelled).status()).toBe(200);
  await page.getByText("Cancelled").waitFor();
});

test("a person whose job could not be cancelled is told that it may still run", async () => {
  await using opened = await openTask("ocr/ocr_async/sandbox/hang");
  const { page } = opened;
  await page.getByText("invoice.png").waitFor();
  await runButton(opened).click();
  await page.getByText(/^Job /).waitFor();
  await page.route(/\/cancel$/, (route) => route.abort());
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("alert").getByText("The job may still run").waitFor();
  await page.unrouteAll();
});

test("the fields of a document stand beside it, and the provider's own answer in the raw one", async () => {
  await using opened = await openTask("ocr/financial_parser/sandbox");
  await opened.page.getByText("invoice.png").waitFor();
  await opened.page.getByLabel(/own answer/).click();
  await run(opened);
  const field = opened.page.locator(".data-fields > div", { hasText: "Invoice receipt ID" });
  expect(await field.locator("dd").innerText()).toBe("INV-2026-001");
  await opened.page.getByRole("img", { name: "The document that was sent" }).waitFor();
  await opened.checkAccessibility();
  await opened.page.getByRole("tab", { name: "Raw" }).click();
  await opened.page.getByRole("region", { name: "Raw answer" }).getByText("original_response").waitFor();
});

test("a cut-out lies over a checkerboard, and a slider compares it with the picture", async () => {
  await using opened = await openTask("image/background_removal/sandbox");
  const { page } = opened;
  await page.getByText("still-life.png").waitFor();
  await run(opened);
  const result = page.getByRole("img", { name: "The result" });
  const readWidth = () => result.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);
  expect(await waitFor("the picture", readWidth)).toBe(64);
  const styleOf = (selector: string, name: string) =>
    page.evaluate(`getComputedStyle(document.querySelector("${selector}")).${name}`);
  expect(await styleOf(".compare", "backgroundImage")).toContain("conic-gradient");
  const slider = page.getByRole("slider");
  await slider.focus();
  await page.keyboard.press("End");
  await waitFor("the slider", async () => (await styleOf(".compare-before", "clipPath")) === "inset(0px 0% 0px 0px)");
  await opened.checkAccessibility();
});

test("what the gateway refuses is said at its field", async () => {
  await using opened = await openTask("text/summarize/local");
  const { page } = opened;
  await page.getByRole("textbox", { name: "Text" }).fill("");
  await page.getByLabel("Output sentences").fill("0");
  await runButton(opened).click();
  await page.getByText("Check the marked fields").waitFor();
  const text = page.getByRole("textbox", { name: "Text" });
  const isMarked = async () => (await text.getAttribute("aria-invalid")) === "true";
  await waitFor("the mark", isMarked);
  expect(await page.locator(".mantine-Textarea-error").innerText()).toContain("required");
  expect(await page.locator(".mantine-NumberInput-error").innerText()).toContain("greater than or equal to 1");
  // The first of these fields has the focus. Its mark disappears when it is changed.
  await page.locator("textarea:focus").waitFor();
  await page.keyboard.type("It rains. It will rain again.");
  await waitFor("the mark to disappear", async () => !(await isMarked()));
  await page.getByLabel("Output sentences").fill("1");
  await run(opened);
  await page.getByRole("heading", { name: "Summary" }).waitFor();
});

test("an unknown task and an unknown provider are said, and another one can be chosen", async () => {
  await using opened = await openTask("ocr/ocr/unknown-provider");
  const { page } = opened;
  await page.getByText("invoice.png").waitFor();
  await runButton(opened).click();
  await page
    .getByRole("alert")
    .getByText(/unknown-provider/)
    .waitFor();
  await page.goto(`${gateway.url}/dashboard/playground/tasks?task=ocr/nothing`);
  await page
    .getByRole("alert")
    .getByText(/no subfeature 'nothing'/)
    .waitFor();
});

test("web pages have a title or an address and a text, and a result without pages says so", async () => {
  await using opened = await openTask("web/map/inhouse");
  const { page } = opened;
  const url = "https://example.com/";
  const links = [
    { url, title: "Start", description: "a".repeat(5_000) },
    { url, title: "" },
  ];
  vendor.next(answer(200, { output: { url, links } }));
  await run(opened);
  await page.getByText("Links (2)").waitFor();
  expect(await page.locator(".web-list a").allTextContents()).toEqual(["Start", url]);
  expect(await page.locator(".web-list p").allTextContents()).toEqual([`${"a".repeat(4_000)}…`]);

  vendor.next(answer(200, { output: { url, links: [] } }));
  await run(opened);
  await page.getByText("No links were found.").waitFor();

  await page.goto(`${gateway.url}/dashboard/playground/tasks?task=web/search/inhouse`);
  vendor.next(answer(200, { output: { query: "a", answer: "", results: [] } }));
  await run(opened);
  await page.getByText("Nothing was found.").waitFor();

  await page.goto(`${gateway.url}/dashboard/playground/tasks?task=web/crawl_async/inhouse`);
  vendor.next(answer(200, { output: { pages: [{ url, title: "Start", content: null, summary: "Trains." }] } }));
  await run(opened);
  await page.locator(".web-list").getByText("Trains.").waitFor();
});

test("research with an answer does not say that nothing was found, although its data is empty", async () => {
  await using opened = await openTask("web/research_async/inhouse");
  const { page } = opened;
  vendor.next(answer(200, { output: { answer: "Trains run on rails.", data: { lines: [] }, sources: [] } }));
  await run(opened);
  await page.getByText("Trains run on rails.").waitFor();
  expect(await page.getByText("Nothing was found.").count()).toBe(0);

  vendor.next(answer(200, { output: { answer: "", data: null, sources: [] } }));
  await run(opened);
  await page.getByText("Nothing was found.").waitFor();
});

test("texts of callers and providers are never markup", async () => {
  const [first = "", second = "", third = ""] = hostile;
  await using opened = await openTask("image/object_detection/inhouse");
  const { page } = opened;
  const bytes = await page.evaluate(`new Promise((resolve) => {
    const canvas = document.createElement("canvas");
    canvas.toBlob(async (blob) => resolve([...new Uint8Array(await blob.arrayBuffer())]));
  })`);
  const files = { name: `${first}.png`, mimeType: "image/png", buffer: Buffer.from(bytes as number[]) };
  await page.getByRole("button", { name: /Remove the file/ }).click();
  await page.locator("input[type=file]").setInputFiles(files);
  await page.getByText(`${first}.png`).waitFor();
  const box = { x_min: 0.1, x_max: 0.5, y_min: 0.1, y_max: 0.5, confidence: 0.9 };
  vendor.next(answer(200, { output: { items: hostile.map((label) => ({ ...box, label })) } }));
  await run(opened);
  for (const text of hostile) await page.getByRole("button", { name: text }).waitFor();

  await page.goto(`${gateway.url}/dashboard/playground/tasks?task=text/named_entity_recognition/inhouse`);
  await page.getByRole("textbox", { name: "Text" }).fill(hostile.join(" and "));
  const items = hostile.map((entity) => ({ entity, category: entity, importance: 1 }));
  vendor.next(answer(200, { output: { items } }));
  await run(opened);
  await waitForCount(page.locator("mark.entity"), hostile.length);

  await page.goto(`${gateway.url}/dashboard/playground/tasks?task=web/search/inhouse`);
  const results = [{ title: first, url: third, content: second }];
  vendor.next(
    answer(200, { output: { query: "a", results, sources: [{ url: "https://example.com/", title: second }] } }),
  );
  await run(opened);
  await page.locator('.task-result a[href="https://example.com/"]').waitFor();
  const links = (await page.evaluate(
    `[...document.querySelectorAll(".task-result a")].map((link) => link.getAttribute("href"))`,
  )) as string[];
  expect(links.filter((href) => !href.startsWith("/dashboard/"))).toEqual(["https://example.com/"]);

  await page.goto(`${gateway.url}/dashboard/playground/tasks?task=${encodeURIComponent(second)}`);
  await page.getByRole("alert").waitFor();
  expect(await page.evaluate("window.hostile")).toBeUndefined();
});

test("a task is chosen, changed and run with the keyboard alone, on a phone", async () => {
  await using opened = await openTask("text/sentiment_analysis", { width: 390, theme: "dark" });
  const { page } = opened;
  await page.getByRole("combobox", { name: "Task" }).focus();
  await page.keyboard.type("language det");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  // The address changes before the form does, and the field of the task before has the same name.
  await page.getByText("Names the language(s) of a text.").waitFor();
  await page.getByRole("textbox", { name: "Text" }).focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Le train pour Paris part à neuf heures.");
  // Past the switch for the provider's own answer.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Run");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Languages" }).getByText("French").waitFor();
  await waitFor("the page to fit", () => fitsWidth(opened));
  await opened.checkAccessibility();
});

test("what was run can be copied as a program", async () => {
  await using opened = await openTask("ocr/ocr_async/sandbox");
  const { page } = opened;
  await page.getByText("invoice.png").waitFor();
  await page.getByRole("button", { name: "Copy as" }).click();
  const code = page.getByRole("dialog").locator("pre");
  await code.getByText("-F 'file=@\"invoice.png\"'").waitFor();
  await page.getByText("Python", { exact: true }).click();
  await code.getByText('upload("invoice.png")').waitFor();
  await opened.checkAccessibility();
});

test("the list of tasks is searched, and leads to the playground", async () => {
  await using opened = await openTask("ocr/ocr");
  const { page } = opened;
  await page.goto(`${gateway.url}/dashboard/tasks?feature=ocr`);
  await page.getByText("Invoice and Receipt Parser").waitFor();
  expect(await page.getByText("Text Moderation").count()).toBe(0);
  await page.getByLabel("Search tasks").fill("cheque");
  await page.waitForURL(/q=cheque/);
  await page.getByText("Invoice and Receipt Parser").waitFor({ state: "detached" });
  await page.getByLabel("Without an account").click();
  await page.getByText("No task fits these filters").waitFor();
  await page.getByRole("button", { name: "Remove the filters" }).click();
  await opened.checkAccessibility();
  await page.getByRole("link", { name: "Try Text Moderation" }).click();
  await page.waitForURL(/task=text.*moderation/);
  await runButton(opened).waitFor();
});
