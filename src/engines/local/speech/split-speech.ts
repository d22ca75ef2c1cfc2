// Finds speech in a recording and splits it at pauses into segments that the model accepts.

export interface Segment {
  /** In samples. */
  readonly start: number;
  readonly end: number;
}

interface SplitOptions {
  readonly rate: number;
  readonly maxSeconds: number;
}

const frameSeconds = 0.02;
// The longer a segment is, the shorter is the pause that ends it: words in context are recognised best, and sentences end with pauses. In seconds,
// the longest segment first.
const pauses = [
  { segment: 15, pause: 0.2 },
  { segment: 5, pause: 0.5 },
  { segment: 0, pause: 1.5 },
];
// Padding around speech, because first and last consonants are quiet.
const marginSeconds = 0.25;
// Quieter input is not speech.
const silenceDecibels = -60;
// At least this share of a recording is assumed to be pauses.
const quietPart = 0.05;
// The level of speech, as a share of the difference between the background and the loudest frame.
const threshold = 0.3;
// With less difference between loud and quiet, the whole recording is passed to the model as speech.
const minRangeDecibels = 9;

export function splitSpeech(samples: Float32Array, { rate, maxSeconds }: SplitOptions): Segment[] {
  const frame = Math.round(frameSeconds * rate);
  const loudness = measureLoudness(samples, frame);
  const spoken = findSpoken(loudness);
  const longest = Math.floor(maxSeconds / frameSeconds);
  const margin = Math.round(marginSeconds / frameSeconds);
  const segments = joinRuns(spoken).flatMap((run) => splitLong(run, loudness, longest - 2 * margin));
  return segments.map(({ start, end }, index) => {
    // Adjacent segments divide the pause between them, because speech in both would be transcribed twice.
    const before = start - (segments[index - 1]?.end ?? 0);
    const after = (segments[index + 1]?.start ?? loudness.length) - end;
    return {
      start: (start - Math.min(margin, Math.floor(before / 2))) * frame,
      end: Math.min(samples.length, (end + Math.min(margin, Math.ceil(after / 2))) * frame),
    };
  });
}

/** In decibels relative to full scale, smoothed over five frames, because a plosive is a moment of silence within a word. */
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
  if (loudest - background < minRangeDecibels) return Array.from(loudness, () => true);
  const minLevel = Math.max(silenceDecibels, background + (loudest - background) * threshold);
  return Array.from(loudness, (level) => level >= minLevel);
}

/** Joins runs of spoken frames that are separated by short pauses. In frames. */
function joinRuns(spoken: readonly boolean[]): Segment[] {
  const joined: Segment[] = [];
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

function pauseThatEnds({ start, end }: Segment): number {
  const seconds = (end - start) * frameSeconds;
  return pauses.find(({ segment }) => seconds >= segment)?.pause ?? 0;
}

/** Splits a segment that is too long at the quietest frame of its last third. */
function splitLong({ start, end }: Segment, loudness: Float32Array, longest: number): Segment[] {
  const segments: Segment[] = [];
  let from = start;
  while (end - from > longest) {
    let cut = from + longest;
    for (let index = from + Math.floor((longest * 2) / 3); index < from + longest; index++)
      if ((loudness[index] ?? 0) < (loudness[cut] ?? 0)) cut = index;
    segments.push({ start: from, end: cut });
    from = cut;
  }
  return [...segments, { start: from, end }];
}
