// Clients that ask for a stream, see it begin and then stop reading, holding the connection open until told to end.

import type { Call } from "../requests.ts";

const { call, readers } = JSON.parse(process.argv[2] ?? "{}") as { call: Call; readers: number };
const target = new URL(call.url);
const headers = Object.entries(call.headers).map(([name, value]) => `${name}: ${value}\r\n`);
const request = `POST ${target.pathname} HTTP/1.1\r\nhost: ${target.host}\r\n${headers.join("")}content-length: ${call.body.length}\r\n\r\n${call.body}`;
let stalled = 0;

await Promise.all(Array.from({ length: readers }, beginAndStall));
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();

async function beginAndStall(): Promise<void> {
  let hasBegun = false;
  const socket = await Bun.connect({
    hostname: target.hostname,
    port: Number(target.port),
    socket: {
      data(opened, bytes) {
        if (hasBegun) return;
        hasBegun = true;
        const statusLine = bytes.toString("latin1", 0, 40).split("\r\n")[0] ?? "";
        if (!statusLine.includes(" 200 ")) {
          console.log(`refused: ${statusLine}`);
          process.exit(1);
        }
        opened.pause();
        if (++stalled === readers) console.log("stalled");
      },
      close() {
        console.log("closed");
      },
    },
  });
  socket.write(request);
}
