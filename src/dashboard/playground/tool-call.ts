// A call of a tool that a model asks for.

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** Data that the provider needs back with the call. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
  /** What the person typed; null: not sent yet. */
  readonly result: string | null;
}
