// Computes how many seconds of sound some audio has, from its bytes.

/** From the audio itself or from what its header states, so only for audio from a trusted source. Null: unknown. */
export function readAudioLength(bytes: Uint8Array): number | null {
  return countAudioLength(bytes) ?? read(bytes, readStatedLength);
}

/** Counted from the samples of a WAV file or the frames of MP3 and AAC, so no header can state another length. Null: unknown. */
export function countAudioLength(bytes: Uint8Array): number | null {
  return read(bytes, (buffer) => (startsWith(buffer, 0, "RIFF") ? countWave(buffer) : countFrames(buffer)));
}

function read(bytes: Uint8Array, readLength: (buffer: Buffer) => number | null): number | null {
  try {
    const seconds = readLength(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return seconds !== null && Number.isFinite(seconds) && seconds > 0 ? seconds : null;
  } catch (error) {
    // A header is truncated.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function startsWith(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString("latin1", at, at + text.length) === text;
}

const pcmFormats = [1, 3, 0xfffe];

function countWave(bytes: Buffer): number | null {
  if (!startsWith(bytes, 8, "WAVE")) return null;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32LE(at + 4);
    const start = at + 8;
    if (startsWith(bytes, at, "fmt ")) {
      const isPcm = pcmFormats.includes(bytes.readUInt16LE(start));
      const sampleBytes = bytes.readUInt16LE(start + 14) / 8;
      const pcmRate = bytes.readUInt16LE(start + 2) * bytes.readUInt32LE(start + 4) * sampleBytes;
      bytesPerSecond = isPcm ? pcmRate : 0;
    }
    // A file that was streamed states the largest possible size.
    if (startsWith(bytes, at, "data")) return Math.min(size, bytes.length - start) / bytesPerSecond;
    at = start + size + (size % 2);
  }
  return null;
}

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
}

function countFrames(bytes: Buffer): number | null {
  let at = startsWith(bytes, 0, "ID3") ? skipTag(bytes) : 0;
  if (readFrame(bytes, at) === null) return null;
  let seconds = 0;
  while (at + 7 <= bytes.length) {
    const frame = readFrame(bytes, at);
    if (frame !== null) seconds += frame.seconds;
    // After a damaged frame, the next one is searched.
    at += frame?.bytes ?? 1;
  }
  return seconds;
}

/** The size of an ID3 tag has seven bits per byte. */
function skipTag(bytes: Buffer): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(6, 10);
  return 10 + ((a << 21) | (b << 14) | (c << 7) | d);
}

function readFrame(bytes: Buffer, at: number): Frame | null {
  if (bytes[at] !== 0xff) return null;
  const second = bytes.readUInt8(at + 1);
  return (second & 0xf6) === 0xf0 ? readAacFrame(bytes, at) : readMp3Frame(bytes, at);
}

const mp3Rates = [44_100, 48_000, 32_000];
/** In kbit/s, of version 1 and of the later ones with half of the sampling rate. */
const mp3BitRates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

function readMp3Frame(bytes: Buffer, at: number): Frame | null {
  const header = bytes.readUInt32BE(at);
  const version = (header >>> 19) & 3;
  const isLayer3 = header >>> 21 === 0x7ff && version !== 1 && ((header >>> 17) & 3) === 1;
  const baseRate = mp3Rates[(header >>> 10) & 3];
  const bitRate = mp3BitRates[version === 3 ? 0 : 1]?.[(header >>> 12) & 15] ?? 0;
  if (!isLayer3 || baseRate === undefined || bitRate === 0) return null;
  const rate = version === 3 ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const samples = version === 3 ? 1_152 : 576;
  const padding = (header >>> 9) & 1;
  return { bytes: Math.floor((samples * bitRate * 125) / rate) + padding, seconds: samples / rate };
}

const aacRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];

function readAacFrame(bytes: Buffer, at: number): Frame | null {
  const rate = aacRates[(bytes.readUInt8(at + 2) >>> 2) & 15];
  const size = ((bytes.readUInt8(at + 3) & 3) << 11) | (bytes.readUInt8(at + 4) << 3) | (bytes.readUInt8(at + 5) >>> 5);
  const blocks = (bytes.readUInt8(at + 6) & 3) + 1;
  return rate === undefined || size < 7 ? null : { bytes: size, seconds: (1_024 * blocks) / rate };
}

function readStatedLength(bytes: Buffer): number | null {
  if (startsWith(bytes, 0, "OggS")) return readOggLength(bytes);
  if (!startsWith(bytes, 0, "fLaC")) return null;
  const rate = bytes.readUInt32BE(18) >>> 12;
  const samples = (bytes.readUInt8(21) & 15) * 2 ** 32 + bytes.readUInt32BE(22);
  return samples / rate;
}

/** The last page states the number of samples until its end; Opus always counts 48,000 per second. */
function readOggLength(bytes: Buffer): number | null {
  const samples = Number(bytes.readBigInt64LE(bytes.lastIndexOf("OggS") + 6));
  const start = 27 + bytes.readUInt8(26);
  if (startsWith(bytes, start, "OpusHead")) return (samples - bytes.readUInt16LE(start + 10)) / 48_000;
  return startsWith(bytes, start, "\u0001vorbis") ? samples / bytes.readUInt32LE(start + 12) : null;
}
