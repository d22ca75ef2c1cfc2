// Tables of short figures, such as marks or scores: their cells are hardly wider than high, so that they say little about the direction of the page.

import { createRandom, type Random } from "../../../documents/random.ts";
import type { Fault } from "../faults.ts";
import { type LabelledPage, tablePage } from "../page.ts";

const teams = [
  "Harbour",
  "Westfield",
  "Kestrel",
  "Old Mill",
  "Northgate",
  "Juniper",
  "Seven Oaks",
  "Lakeside",
  "Thornbury",
  "Ash",
  "Quarry Lane",
  "Eel Pie",
];
const rounds = ["Swim", "Run", "Jump", "Throw", "Style", "Time", "Points", "Sum", "Rank", "Round 1", "Bonus", "Final"];

/** One to four characters. */
const figures: readonly ((random: Random) => string)[] = [
  (random) => `${random.between(1, 9)},${random.digits(1)}`,
  (random) => `${random.between(1, 9)}.${random.digits(1)}`,
  (random) => random.digits(1),
  (random) => random.digits(2),
  (random) => random.digits(3),
  (random) => `${random.between(1, 9)}:${random.digits(1)}`,
  (random) => random.pick(["A", "B+", "E", "F-", "x"]),
  (random) => `${random.between(1, 9)},${random.digits(2)}`,
];
const shortest = figures.slice(2, 4);

/** The same seed makes the same table in every run. */
export function figureTable(seed: number, faults: readonly Fault[] = []): LabelledPage {
  const random = createRandom(`figures ${seed}`);
  // A register has a narrow column for each day or question.
  const isRegister = random.next() < 0.25;
  const columns = isRegister ? random.between(9, 14) : random.between(2, 7);
  const isUniform = random.next() < 0.7;
  const usual = random.pick(isRegister ? shortest : figures);
  const kinds = Array.from({ length: columns }, () => (isUniform || isRegister ? usual : random.pick(figures)));
  const names = random.some(teams, random.between(4, 12));
  const cells = [
    ["Team", ...(isRegister ? kinds.map((_, index) => String(index + 1)) : random.some(rounds, columns))],
    ...names.map((name) => [name, ...kinds.map((make) => make(random))]),
  ];
  const width = isRegister ? random.between(24, 27) : random.between(52, Math.min(100, Math.floor(360 / columns)));
  const look = random.pick(["grid", "outer", "none"] as const);
  const options = {
    name: `figures-${seed}-${look}`,
    language: "en",
    kind: "table",
    faults,
    isCropped: random.next() < 0.7,
  };
  return tablePage(options, random.pick(["Scores", "Results", "Spring meeting"]), cells, {
    widths: [random.between(80, 120), ...kinds.map(() => width)],
    rowHeight: random.between(17, 30),
    hasRules: look === "grid",
    hasOuterRulesOnly: look === "outer",
  });
}
