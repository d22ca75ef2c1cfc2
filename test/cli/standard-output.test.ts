import { expect, test } from "bun:test";
import { join } from "node:path";

const child = `${process.execPath} ${join(import.meta.dir, "../support/output-child.ts")}`;

test("lines of several processes are not mixed in a pipe whose reader is slow, and none is lost", async () => {
  const writers = ["a", "b", "c"].map((name) => `${child} ${name} 30 &`).join(" ");
  const { stdout } = Bun.spawn(["bash", "-c", `(${writers} wait) | (sleep 0.5; cat)`], { stdout: "pipe" });
  const lines = (await new Response(stdout).text()).trimEnd().split("\n");
  const names = lines.map((line) => {
    const { name, text } = JSON.parse(line) as { name: string; text: string };
    expect(text).toBe(name.repeat(300));
    return name;
  });
  expect(names.toSorted().join("")).toBe("a".repeat(3_000) + "b".repeat(3_000) + "c".repeat(3_000));
});

test("a file gets all lines", async () => {
  const { stdout } = Bun.spawn(["bash", "-c", `f=$(mktemp); ${child} a 3 > $f; wc -l < $f; rm $f`], { stdout: "pipe" });
  expect((await new Response(stdout).text()).trim()).toBe("300");
});
