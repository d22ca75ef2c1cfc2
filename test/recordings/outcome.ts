// What a client reads from an answer, in words that all vendors' clients and ours share, and how two readings are compared.

export interface Outcome {
  readonly choices: readonly Choice[];
  /** Null where the vendor tells none. */
  readonly usage: Usage | null;
  readonly failure: Failure | null;
}

export interface Choice {
  /** In pieces where the vendor's answer has several: what is written between two pieces is not the vendor's. */
  readonly text: readonly string[];
  readonly reasoning: readonly string[];
  readonly refusal: string | null;
  readonly calls: readonly Call[];
  readonly finish: string | null;
}

export interface Call {
  /** Null where the vendor gives none: then it is ours to choose. */
  readonly id: string | null;
  readonly name: string;
  readonly arguments: unknown;
}

export interface Usage {
  readonly prompt: number;
  readonly completion: number;
  /** Null where the vendor does not say. */
  readonly cached: number | null;
}

export interface Failure {
  /** Null when it came in the middle of an answer. */
  readonly status: number | null;
  readonly code: string;
}

/** As errors of the gateway, by the status that the vendor's client tells; see docs/errors.md. */
export function toGatewayFailure(status: number | null): Failure {
  if (status === null) return { status: null, code: "provider_error" };
  if (status === 401 || status === 402 || status === 403) return { status: 502, code: "provider_auth_failed" };
  if (status === 404) return { status: 404, code: "model_not_found" };
  if (status === 408) return { status: 504, code: "provider_timeout" };
  if (status === 429) return { status: 429, code: "provider_rate_limited" };
  if (status >= 500 || status === 409) return { status: 502, code: "provider_error" };
  return { status: 400, code: "provider_rejected_request" };
}

/** A failure in a stream that had begun as a good one. */
export function inTheMiddle(status: number | null): Failure {
  return { ...toGatewayFailure(status), status: null };
}

export function failed(failure: Failure, choices: readonly Choice[] = []): Outcome {
  return { choices, usage: null, failure };
}

/** Arguments are compared as what they mean; a model's broken JSON as it stands. */
function readArguments(text: string): unknown {
  try {
    return JSON.parse(text === "" ? "{}" : text);
  } catch {
    return text;
  }
}

/** Collects what a stream or a list of parts says of one choice. */
export class ChoiceBuilder {
  readonly #text: string[] = [];
  readonly #reasoning: string[] = [];
  readonly #calls = new Map<unknown, { id: string | null; name: string; text: string; value: unknown }>();
  #lastKind = "";
  refusal: string | null = null;
  finish: string | null = null;

  /** `isNew`: a piece of its own, as the vendor marks it. */
  addText(text: string | null | undefined, isNew = false): void {
    this.#add("text", this.#text, text, isNew);
  }

  addReasoning(text: string | null | undefined, isNew = false): void {
    this.#add("reasoning", this.#reasoning, text, isNew);
  }

  addRefusal(text: string | null | undefined): void {
    if (text) this.refusal = (this.refusal ?? "") + text;
  }

  addCall(id: unknown, name: unknown, value: unknown): void {
    this.#lastKind = "call";
    this.#calls.set(Symbol(), { id: toId(id), name: String(name), text: "", value });
  }

  /** A call that comes in pieces; what tells it from others is its key. */
  addToCall(key: unknown, { id, name, text }: { id?: unknown; name?: unknown; text?: unknown }): void {
    this.#lastKind = "call";
    const call = this.#calls.get(key) ?? { id: null, name: "", text: "", value: undefined };
    call.id ??= toId(id);
    call.name += name ?? "";
    call.text += text ?? "";
    this.#calls.set(key, call);
  }

  interrupt(): void {
    this.#lastKind = "";
  }

  /** The arguments of the newest call. */
  get lastCall(): unknown {
    return [...this.#calls.values()].at(-1)?.value;
  }

  get isEmpty(): boolean {
    return !this.hasCalls && this.#text.length === 0;
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  build(): Choice {
    const calls = [...this.#calls.values()].map(({ id, name, text, value }) => ({
      id,
      name,
      arguments: value === undefined ? readArguments(text) : value,
    }));
    const { refusal, finish } = this;
    return { text: this.#text, reasoning: this.#reasoning, refusal, calls, finish };
  }

  #add(kind: string, pieces: string[], text: string | null | undefined, isNew: boolean): void {
    if (!text) return;
    if (this.#lastKind === kind && !isNew) pieces.push((pieces.pop() ?? "") + text);
    else pieces.push(text);
    this.#lastKind = kind;
  }
}

function toId(id: unknown): string | null {
  return typeof id === "string" ? id : null;
}

export type Member = "text" | "reasoning" | "refusal" | "calls" | "finish" | "usage" | "failure" | "choices";

export interface Difference {
  readonly member: Member;
  readonly vendor: unknown;
  readonly gateway: unknown;
}

/** Where the gateway's answer is not what the vendor's client reads. */
export function compare(vendor: Outcome, gateway: Outcome): readonly Difference[] {
  const found: Difference[] = [];
  const note = (member: Member, ours: unknown, theirs: unknown) =>
    found.push({ member, vendor: theirs, gateway: ours });
  if (!isSameFailure(vendor.failure, gateway.failure)) note("failure", gateway.failure, vendor.failure);
  // An answer that failed as a whole holds nothing to compare.
  if (vendor.failure?.status || gateway.failure?.status) return found;
  const isCut = vendor.failure !== null || gateway.failure !== null;
  if (!isCut && vendor.choices.length !== gateway.choices.length)
    note("choices", gateway.choices.length, vendor.choices.length);
  for (const [index, theirs] of vendor.choices.entries()) {
    const ours = gateway.choices[index];
    if (ours === undefined) break;
    if (!saysTheSame(ours.text.join(""), theirs.text)) note("text", ours.text, theirs.text);
    if (!saysTheSame(ours.reasoning.join(""), theirs.reasoning)) note("reasoning", ours.reasoning, theirs.reasoning);
    // What a failure cut short is not compared further.
    if (isCut) continue;
    if ((ours.refusal ?? "") !== (theirs.refusal ?? "")) note("refusal", ours.refusal, theirs.refusal);
    if (!areSameCalls(theirs.calls, ours.calls)) note("calls", ours.calls, theirs.calls);
    if (ours.finish !== theirs.finish) note("finish", ours.finish, theirs.finish);
  }
  if (!isCut && !isSameUsage(vendor.usage, gateway.usage)) note("usage", gateway.usage, vendor.usage);
  return found;
}

/** Whether two answers of the gateway to the same bytes are the same. */
export function isSameAnswer(one: Outcome, other: Outcome): boolean {
  // A failure that comes with the first bytes is told by a status, and the words before it are not.
  if (one.failure !== null && other.failure !== null) return one.failure.code === other.failure.code;
  return Bun.deepEquals(withoutIds(one), withoutIds(other));
}

/** Where the vendor gives a call no id, each answer has another. */
function withoutIds(outcome: Outcome): Outcome {
  const choices = outcome.choices.map((choice) => ({
    ...choice,
    calls: choice.calls.map((call) => ({ ...call, id: null })),
  }));
  return { ...outcome, choices };
}

/** Between two pieces there may be white space; within a piece every character counts. */
function saysTheSame(text: string, pieces: readonly string[]): boolean {
  let at = 0;
  for (const piece of pieces) {
    while (!text.startsWith(piece, at) && /\s/.test(text[at] ?? "")) at += 1;
    if (!text.startsWith(piece, at)) return false;
    at += piece.length;
  }
  return at === text.length;
}

function areSameCalls(vendor: readonly Call[], gateway: readonly Call[]): boolean {
  if (vendor.length !== gateway.length) return false;
  return vendor.every(({ id, name, arguments: given }, index) => {
    const ours = gateway[index];
    if (ours === undefined || name !== ours.name || !Bun.deepEquals(given, ours.arguments)) return false;
    if (id !== null) return id === ours.id;
    return Boolean(ours.id) && gateway.filter((call) => call.id === ours.id).length === 1;
  });
}

function isSameFailure(vendor: Failure | null, gateway: Failure | null): boolean {
  if (vendor === null || gateway === null) return vendor === gateway;
  // A stream that fails before its first word is answered with a status.
  return vendor.code === gateway.code && (vendor.status === null || vendor.status === gateway.status);
}

/** What the vendor does not tell, nobody can check. */
function isSameUsage(vendor: Usage | null, gateway: Usage | null): boolean {
  if (vendor === null) return true;
  if (gateway === null || vendor.prompt !== gateway.prompt || vendor.completion !== gateway.completion) return false;
  return vendor.cached === null || vendor.cached === (gateway.cached ?? 0);
}
