// The control socket of a running gateway.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openControlSocket } from "../../src/cli/control-socket.ts";
import { createLog } from "../../src/log.ts";
import { waitFor } from "../support/wait.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-control-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a gateway that cannot announce its control socket warns, and closes the socket again", async () => {
  writeFileSync(join(folder, "run"), "a file where the folder should be");
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "text", secrets: [], write: (line) => void lines.push(line) });
  using _control = openControlSocket({
    dataDir: folder,
    folder,
    reload: () => Promise.reject(new Error("unused")),
    log,
  });
  const unix = join(folder, "control.sock");
  await expect(fetch("http://gateway/", { unix })).rejects.toThrow();
  await waitFor("the warning", () => lines.join("").includes("commands cannot reach this gateway"));
});
