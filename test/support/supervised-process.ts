// A process for the tests of the supervisor. Each run appends a line to the file that is its second argument; the first argument lists
// how the runs end, one word for each run: `die` (killed before it is ready), `refuse` (says why it cannot start), `wait` (says that the
// store did not answer), `serve`, `hang` (serves, and does not end when it is told to), `linger` (serves, and listens until the file
// `<second argument>.released` exists), `drain` (as `linger`, but stops listening at once).

import { appendFileSync, existsSync, readFileSync } from "node:fs";

const [plan = "", file = ""] = process.argv.slice(2);
appendFileSync(file, `${process.pid}\n`);
const run = readFileSync(file, "utf8").trim().split("\n").length;
const how = plan.split(",")[run - 1] ?? "serve";
if (how === "die") process.kill(process.pid, "SIGKILL");
if (how === "refuse" || how === "wait") {
  const message = how === "wait" ? "The store does not answer." : "The port is taken.";
  process.send?.({ state: "failed", message, isConfiguration: false, isTemporary: how === "wait" });
  setTimeout(() => process.exit(1), 50);
} else {
  process.on("message", (message: "serve" | { readonly handover?: string }) => {
    if (message === "serve") process.send?.({ state: "ready" });
    else if (message.handover === "steer") process.send?.({ state: "steered" });
  });
  process.on("SIGTERM", () => {
    if (how === "drain") process.send?.({ state: "closed" });
    if (how === "linger" || how === "drain") setInterval(() => existsSync(`${file}.released`) && process.exit(0), 20);
    else if (how !== "hang") process.exit(0);
  });
  process.send?.({ state: "prepared" });
}
