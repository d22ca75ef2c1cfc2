// A button on every code block that copies its text.

const shownMs = 1_500;

export function addCopyButtons(): void {
  for (const figure of document.querySelectorAll<HTMLElement>("figure.code")) {
    const code = figure.querySelector("code");
    if (code === null) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => void copy(code.textContent ?? "", button));
    (figure.querySelector("figcaption") ?? figure).append(button);
  }
}

async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  const isCopied = await write(text);
  button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  setTimeout(() => {
    button.textContent = "Copy";
  }, shownMs);
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without TLS, and on other addresses than this machine's own, browsers offer no clipboard.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  }
}
