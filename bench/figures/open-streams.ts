// STREAMS: the memory of a stream while it is open. scripts/capacity.ts reads it.

import { checkContestant, startSwitchyard } from "../contestants.ts";
import { type Figure, format } from "../figure.ts";
import { sendStreamLoad } from "../load/stream-load.ts";
import { readProcessTree, readTreeRssBytes } from "../process-tree.ts";
import { median } from "../statistics.ts";

const streams = 500;
const kilobyte = 1_024;
const sampleMs = 50;
const limitKb = 150;

export const openStreams: Figure = {
  id: "STREAMS",
  title: "memory of an open stream",
  async measure(course) {
    const { children, vendors, projectFolder } = course;
    const gateway = await startSwitchyard(children, { projectFolder, vendors, workers: 1 });
    await checkContestant(gateway, "stream");
    const call = gateway.prepare("stream");
    // The first streams grow the heap for good.
    await sendStreamLoad(children, { call, streams: 100, chunks: vendors.chunks });
    const rounds: number[] = [];
    for (let round = 0; round < Math.min(3, course.rounds); round++) {
      const before = readTreeRssBytes(gateway.pid);
      let peak = before;
      const sampler = setInterval(() => {
        peak = Math.max(peak, readTreeRssBytes(gateway.pid));
      }, sampleMs);
      await sendStreamLoad(children, { call, streams, chunks: vendors.chunks }).finally(() => clearInterval(sampler));
      rounds.push((peak - before) / streams / kilobyte);
    }
    const processMb = Math.max(...readProcessTree(gateway.pid).map(({ rssBytes }) => rssBytes)) / kilobyte ** 2;
    await gateway.stop();
    // The first round allocates what the later ones use again.
    const largest = Math.max(...rounds);
    return {
      values: { Switchyard: largest },
      unit: "KB",
      checks: [
        {
          against: "limit",
          value: largest,
          limit: limitKb,
          isBest: "low",
          shown: `${format(largest)} KB`,
          target: `≤ ${limitKb} KB`,
        },
      ],
      notes: [
        `${streams} streams at once, median of the rounds ${format(median(rounds))} KB; the largest process has ${format(processMb)} MB afterwards`,
      ],
      rounds: { "KB a stream": rounds, "MB of a process": [processMb] },
    };
  },
};
