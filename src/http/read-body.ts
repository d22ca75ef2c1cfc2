export interface JsonBody {
  readonly bytes: Uint8Array;
  readonly value: unknown;
}
