// Finds speech in a recording and splits it at pauses into segments that the model accepts.

export interface Piece {
  /** In samples. */
  readonly start: number;
  readonly end: number;
}

interface SplitOptions {
  readonly rate: number;
  readonly maxSeconds: number;
}

const frameSeconds = 0.02;
// The longer a piece is already, the shorter the pause that ends it: words are understood best among others, and pauses are where
// sentences end. In seconds, the longest piece first.
const pauses = [
  { piece: 15, pause: 0.2 },
  { piece: 5, pause: 0.5 },
  { piece: 0, pause: 1.5 },
];
// Padding around speech, because first and last consonants are quiet.
const marginSeconds = 0.25;
// Quieter input is not speech.
const silenceDecibels = -60;
// So much of a recording at least is taken to be pauses: people breathe.
const quietPart = 0.05;
// How far above the background something must be, as a part of the distance to the loudest.
const threshold = 0.3;
// A recording without any difference between loud and quiet is speech from end to end, or noise; the model finds out.
const leastRangeDecibels = 9;

export function splitSpeech(samples: Float32Array, { rate, maxSeconds }: SplitOptions): Piece[] {
  const frame = Math.round(frameSeconds * rate);
  const loudness = measureLoudness(samples, frame);
  const spoken = findSpoken(loudness);
  const longest = Math.floor(maxSeconds / frameSeconds);
  const margin = Math.round(marginSeconds / frameSeconds);
  const pieces = joinRuns(spoken).flatMap((run) => cutLong(run, loudness, longest - 2 * margin));
  return pieces.map(({ start, end }, index) => {
    // Neighbours share the pause between them: what both would hear, both would write.
    const before = start - (pieces[index - 1]?.end ?? 0);
    const after = (pieces[index + 1]?.start ?? loudness.length) - end;
    return {
      start: (start - Math.min(margin, Math.floor(before / 2))) * frame,
      end: Math.min(samples.length, (end + Math.min(margin, Math.ceil(after / 2))) * frame),
    };
  });
}

/** In decibels below full scale, frame by frame, each with its neighbours: a plosive is a moment of silence within a word. */
function measureLoudness(samples: Float32Array, frame: number): Float32Array {
  const energies = Float32Array.from({ length: Math.ceil(samples.length / frame) }, (_, index) => {
    const part = samples.subarray(index * frame, (index + 1) * frame);
    let sum = 0;
    for (const sample of part) sum += sample * sample;
    return sum / part.length;
  });
  return energies.map((_, index) => {
    const around = energies.subarray(Math.max(0, index - 2), index + 3);
    return 10 * Math.log10(around.reduce((sum, one) => sum + one, 0) / around.length + 1e-12);
  });
}

function findSpoken(loudness: Float32Array): boolean[] {
  const sorted = loudness.toSorted();
  const loudest = sorted.at(-1) ?? silenceDecibels;
  if (loudest < silenceDecibels) return [];
  const background = Math.max(sorted[Math.floor(sorted.length * quietPart)] ?? silenceDecibels, -90);
  if (loudest - background < leastRangeDecibels) return Array.from(loudness, () => true);
  const least = Math.max(silenceDecibels, background + (loudest - background) * threshold);
  return Array.from(loudness, (level) => level >= least);
}

/** Runs of spoken frames, with the short pauses between them inside. In frames. */
function joinRuns(spoken: readonly boolean[]): Piece[] {
  const joined: Piece[] = [];
  let start = -1;
  for (let index = 0; index <= spoken.length; index++) {
    if (spoken[index] && start < 0) start = index;
    if (spoken[index] || start < 0) continue;
    const last = joined.at(-1);
    if (last !== undefined && (start - last.end) * frameSeconds < pauseThatEnds(last))
      joined[joined.length - 1] = { start: last.start, end: index };
    else joined.push({ start, end: index });
    start = -1;
  }
  return joined;
}

function pauseThatEnds({ start, end }: Piece): number {
  const seconds = (end - start) * frameSeconds;
  return pauses.find(({ piece }) => seconds >= piece)?.pause ?? 0;
}

/** At the quietest moment of the last third, for as long as it is too long. */
function cutLong({ start, end }: Piece, loudness: Float32Array, longest: number): Piece[] {
  const pieces: Piece[] = [];
  let from = start;
  while (end - from > longest) {
    let cut = from + longest;
    for (let index = from + Math.floor((longest * 2) / 3); index < from + longest; index++)
      if ((loudness[index] ?? 0) < (loudness[cut] ?? 0)) cut = index;
    pieces.push({ start: from, end: cut });
    from = cut;
  }
  return [...pieces, { start: from, end }];
}
