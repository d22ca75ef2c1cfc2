// STREAMS: the memory of a stream while it is open. scripts/capacity.ts reads it.

import { startChecked } from "../contestants.ts";
import { checkMost, defineFigure, format } from "../figure.ts";
import { sendStreamLoad } from "../load/stream-load.ts";
import { readProcessTree, watchGrowth } from "../process-tree.ts";
import { median } from "../statistics.ts";

const streams = 500;
const kilobyte = 1_024;
const limitKb = 150;

export const openStreams = defineFigure("STREAMS", "memory of an open stream", async (course) => {
  const { children, vendors } = course;
  const { gateway, call } = await startChecked(course, "stream");
  // The first streams grow the heap for good.
  await sendStreamLoad(children, { call, streams: 100, chunks: vendors.chunks });
  const rounds: number[] = [];
  for (let round = 0; round < Math.min(3, course.rounds); round++) {
    const growth = watchGrowth(gateway.pid);
    await sendStreamLoad(children, { call, streams, chunks: vendors.chunks }).finally(growth.stop);
    rounds.push(growth.readBytes() / streams / kilobyte);
  }
  const processMb = Math.max(...readProcessTree(gateway.pid).map(({ rssBytes }) => rssBytes)) / kilobyte ** 2;
  await gateway.stop();
  // The first round allocates what the later ones use again.
  const largest = Math.max(...rounds);
  return {
    values: { Switchyard: largest },
    unit: "KB",
    checks: [checkMost("limit", largest, limitKb, " KB")],
    notes: [
      `${streams} streams at once, median of the rounds ${format(median(rounds))} KB; the largest process has ${format(processMb)} MB afterwards`,
    ],
    rounds: { "KB a stream": rounds, "MB of a process": [processMb] },
  };
});
