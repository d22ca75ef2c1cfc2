// Silence as a WAV file with one channel of 16-bit samples.

interface Silence {
  /** Samples per second. */
  readonly rate?: number;
  /** Default: a tenth of a second. */
  readonly samples?: number;
}

export function toSilence({ rate = 8_000, samples = rate / 10 }: Silence = {}): Buffer<ArrayBuffer> {
  const file = Buffer.alloc(44 + samples * 2);
  file.write("RIFF", 0, "latin1");
  file.writeUInt32LE(36 + samples * 2, 4);
  file.write("WAVEfmt ", 8, "latin1");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write("data", 36, "latin1");
  file.writeUInt32LE(samples * 2, 40);
  return file;
}
