// Sends the forms of the API reference to the gateway that serves the page. A key stays in the fields of this page: it is not stored.

const maxShownCharacters = 200_000;

export function prepareForms(): void {
  for (const panel of document.querySelectorAll<HTMLDetailsElement>("details.try")) {
    panel.hidden = false;
    const form = panel.querySelector("form");
    const result = panel.querySelector<HTMLElement>(".result");
    if (form !== null && result !== null) prepare(form, result);
  }
  const keys = [...document.querySelectorAll<HTMLInputElement>("[data-key]")];
  for (const field of keys)
    field.addEventListener("input", () => {
      for (const other of keys) if (other.dataset["key"] === field.dataset["key"]) other.value = field.value;
    });
}

function prepare(form: HTMLFormElement, result: HTMLElement): void {
  const stop = form.querySelector<HTMLButtonElement>("[data-stop]");
  let controller: AbortController | null = null;
  stop?.addEventListener("click", () => controller?.abort());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    controller?.abort();
    const own = new AbortController();
    controller = own;
    if (stop !== null) stop.hidden = false;
    void send(form, result, own.signal).finally(() => {
      if (controller === own && stop !== null) stop.hidden = true;
    });
  });
}

async function send(form: HTMLFormElement, result: HTMLElement, signal: AbortSignal): Promise<void> {
  const output = showResult(result);
  const startedAt = performance.now();
  try {
    const response = await fetch(toUrl(form), { ...toRequest(form), signal });
    const type = response.headers.get("content-type") ?? "";
    output.status(`${response.status} ${response.statusText}`, response.ok);
    output.note(`${Math.round(performance.now() - startedAt)} ms · ${response.headers.get("x-request-id") ?? ""}`);
    if (type.includes("json")) output.text(toReadable(await response.text()));
    else if (type.startsWith("text/")) await readPieces(response, output.text);
    else output.file(await response.blob(), type);
  } catch (error) {
    output.status(signal.aborted ? "Stopped" : "Not answered", false);
    if (!signal.aborted) output.text(String(error));
  }
}

/** Fields in the path and the query of the operation. */
function toUrl(form: HTMLFormElement): URL {
  let path = form.dataset["path"] ?? "";
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[data-in]")) {
    const { in: place, name = "" } = field.dataset;
    if (field.value === "") continue;
    // An id may have slashes of its own, such as the name of a model.
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(field.value).replaceAll("%2F", "/"));
    else query.append(name, field.value);
  }
  const base = new URL(`${document.body.dataset["root"] ?? "."}/`, location.href);
  const url = new URL(path.slice(1), base);
  url.search = query.toString();
  return url;
}

function toRequest(form: HTMLFormElement): RequestInit {
  const headers: Record<string, string> = {};
  const key = form.querySelector<HTMLInputElement>("[data-key]")?.value.trim() ?? "";
  if (key !== "") headers["authorization"] = `Bearer ${key}`;
  const init: RequestInit = {
    method: form.dataset["method"] ?? "GET",
    headers,
    cache: "no-store",
    credentials: "omit",
  };
  const body = form.querySelector<HTMLTextAreaElement>("[data-body]");
  if (body !== null && body.value.trim() !== "") {
    headers["content-type"] = "application/json";
    return { ...init, body: body.value };
  }
  const parts = [...form.querySelectorAll<HTMLInputElement>("[data-part]")];
  if (parts.length === 0) return init;
  const data = new FormData();
  for (const { dataset, files, value } of parts) {
    const name = dataset["part"] ?? "";
    const [file] = files ?? [];
    if (file !== undefined) data.append(name, file);
    else if (files === null && value !== "") data.append(name, value);
  }
  return { ...init, body: data };
}

/** A stream is shown while it arrives. */
async function readPieces(response: Response, show: (text: string) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let piece = await reader?.read(); piece !== undefined && !piece.done; piece = await reader?.read()) {
    text += piece.value;
    show(text);
  }
}

function toReadable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function showResult(result: HTMLElement) {
  const status = document.createElement("b");
  status.textContent = "Sending …";
  const note = document.createElement("small");
  const body = document.createElement("pre");
  body.tabIndex = 0;
  body.setAttribute("aria-label", "Answer");
  body.setAttribute("role", "group");
  body.hidden = true;
  result.replaceChildren(status, " ", note, body);
  return {
    status(text: string, isOk: boolean): void {
      status.textContent = text;
      status.className = isOk ? "ok" : "failed";
    },
    note(text: string): void {
      note.textContent = text;
    },
    text(text: string): void {
      body.hidden = text === "";
      body.textContent = text.length > maxShownCharacters ? `${text.slice(0, maxShownCharacters)} …` : text;
    },
    file(file: Blob, type: string): void {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(file);
      link.download = `answer.${type.split(/[/;+]/)[1] ?? "bin"}`;
      link.textContent = `Save ${file.size.toLocaleString("en")} bytes of ${type}`;
      result.append(link);
    },
  };
}
