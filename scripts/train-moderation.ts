// Trains the classifier of text/moderation/local/minilm: linear models on the vectors of the sentence model, one for harm and one for each kind of harm. It
// reads the sentences in `moderation/` and the set that may be tuned on, prints the result of cross-validation, and writes the weights with `--write`.

import { loadSentenceModel, vectorLength } from "../src/engines/local/semantic/sentence-model.ts";
import tune from "../test/quality/text/moderation-tune.json" with { type: "json" };
import first from "./moderation/first-set.json" with { type: "json" };
import phrases from "./moderation/phrases.json" with { type: "json" };
import second from "./moderation/second-set.json" with { type: "json" };

interface Example {
  readonly text: string;
  /** Null: harmful, but the set does not say of which kind. */
  readonly kind: string | null;
  /** With a 1 at the end, for the bias. */
  readonly inputs: Float64Array;
}

type Weights = Float64Array;

const harmless = "harmless";
const kinds = Object.keys(phrases).filter((kind) => kind !== harmless);
const weightsFile = "src/engines/local/semantic/moderation-weights.json";
const folds = 6;
/** Chosen by cross-validation among 0.3, 1 and 3. */
const ridge = 1;

const examples = await readExamples();
const scores = examples.map(() => 0);
for (let fold = 0; fold < folds; fold++) {
  const weights = trainHarm(examples.filter((_, index) => index % folds !== fold));
  for (const [index, { inputs }] of examples.entries())
    if (index % folds === fold) scores[index] = dot(weights, inputs);
}
const { slope, offset } = calibrate();
const probabilities = scores.map((score) => sigmoid(slope * score + offset));
for (const threshold of [0.3, 0.4, 0.5, 0.6, 0.7]) {
  const flagged = examples.filter((_, index) => (probabilities[index] ?? 0) >= threshold);
  const right = flagged.filter(isHarmful).length;
  const [precision, recall] = [right / flagged.length, right / examples.filter(isHarmful).length];
  const figures = `precision ${(100 * precision).toFixed(1)} %, recall ${(100 * recall).toFixed(1)} %`;
  console.log(`from ${threshold} on: ${figures}, ${examples.length} sentences`);
}
if (process.argv.includes("--misses"))
  for (const [index, example] of examples.entries()) {
    const probability = probabilities[index] ?? 0;
    if (isHarmful(example) !== probability >= 0.5)
      console.log(`${probability.toFixed(2)} ${example.kind} ${example.text}`);
  }

if (process.argv.includes("--write")) {
  const harm = trainHarm(examples).map((value) => value * slope);
  harm[vectorLength] = (harm[vectorLength] ?? 0) + offset;
  const known = examples.filter(({ kind }) => kind !== null && kind !== harmless);
  const rows = kinds.map((kind) => [kind, train(known, (example) => (example.kind === kind ? 1 : -1))] as const);
  const encoded = [["harm", harm] as const, ...rows].map(([name, row]) => [
    name,
    Buffer.from(Float32Array.from(row).buffer).toString("base64"),
  ]);
  await Bun.write(weightsFile, `${JSON.stringify(Object.fromEntries(encoded), null, 2)}\n`);
}

async function readExamples(): Promise<Example[]> {
  const labelled = [
    ...Object.entries(phrases).flatMap(([kind, texts]) => texts.map((text) => ({ text, kind }))),
    ...tune.cases.map(({ text, isBad, kind }) => ({ text, kind: isBad ? kind : harmless })),
    ...[...first.cases, ...second.cases].map(({ text, isBad }) => ({ text, kind: isBad ? null : harmless })),
  ];
  const model = await loadSentenceModel();
  const vectors = await model.embed(labelled.map(({ text }) => text));
  return labelled.map((example, index) => ({ ...example, inputs: Float64Array.from([...(vectors[index] ?? []), 1]) }));
}

function isHarmful({ kind }: Example): boolean {
  return kind !== harmless;
}

function trainHarm(all: readonly Example[]): Weights {
  return train(all, (example) => (isHarmful(example) ? 1 : -1));
}

/** Ridge regression: solves (XᵀX + ridge) w = Xᵀy by Cholesky decomposition. */
function train(all: readonly Example[], targetOf: (example: Example) => number): Weights {
  const size = vectorLength + 1;
  const matrix = Array.from({ length: size }, () => new Float64Array(size));
  const sums = new Float64Array(size);
  for (const example of all)
    for (let row = 0; row < size; row++) {
      const value = at(example.inputs, row);
      sums[row] = at(sums, row) + value * targetOf(example);
      for (let column = 0; column <= row; column++) add(matrix, row, column, value * at(example.inputs, column));
    }
  for (let row = 0; row < size; row++) {
    add(matrix, row, row, ridge);
    for (let column = 0; column <= row; column++) {
      let rest = at(matrix[row], column);
      for (let before = 0; before < column; before++) rest -= at(matrix[row], before) * at(matrix[column], before);
      const value = column === row ? Math.sqrt(rest) : rest / at(matrix[column], column);
      add(matrix, row, column, value - at(matrix[row], column));
    }
  }
  const weights = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    let rest = at(sums, row);
    for (let before = 0; before < row; before++) rest -= at(matrix[row], before) * at(weights, before);
    weights[row] = rest / at(matrix[row], row);
  }
  for (let row = size - 1; row >= 0; row--) {
    let rest = at(weights, row);
    for (let after = row + 1; after < size; after++) rest -= at(matrix[after], row) * at(weights, after);
    weights[row] = rest / at(matrix[row], row);
  }
  return weights;
}

/** Logistic regression of the harm on the score of cross-validation, so that the score becomes a probability. */
function calibrate(): { slope: number; offset: number } {
  let [slope, offset] = [1, 0];
  for (let step = 0; step < 5_000; step++) {
    let [first, second] = [0, 0];
    for (const [index, example] of examples.entries()) {
      const score = scores[index] ?? 0;
      const error = (isHarmful(example) ? 1 : 0) - sigmoid(slope * score + offset);
      [first, second] = [first + error * score, second + error];
    }
    [slope, offset] = [slope + first / examples.length, offset + second / examples.length];
  }
  return { slope, offset };
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, index) => sum + value * at(b, index), 0);
}

function at(row: Float64Array | undefined, index: number): number {
  return row?.[index] ?? 0;
}

function add(matrix: readonly Float64Array[], row: number, column: number, value: number): void {
  const values = matrix[row];
  if (values !== undefined) values[column] = at(values, column) + value;
}
