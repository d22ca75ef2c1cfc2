/** Frames of an event stream, pulled no faster than the caller reads. */
export interface FrameStream {
  /** The frames to write next; null at the end; undefined while there are none. */
  take(): readonly Uint8Array[] | null | undefined;
  /** Resolves when `take` has something to return. */
  wait(): Promise<void>;
  /** The caller disconnected, or the rest of the stream is not wanted. */
  abandon(): void;
}
