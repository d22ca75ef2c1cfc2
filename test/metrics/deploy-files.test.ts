// The dashboard and the alert rules use metrics that exist, and docs/metrics.md lists them.

import { expect, test } from "bun:test";
import {
  listDocumentedMetrics,
  listExpressions,
  metricNamesIn,
  readDashboard,
  readRules,
} from "../support/dashboards.ts";

test("the dashboard and the alerts name only documented metrics", async () => {
  const documented = await listDocumentedMetrics();
  const expressions = [...listExpressions(await readDashboard()), ...(await readRules()).map(({ expr }) => expr)];
  const used = new Set(expressions.flatMap(metricNamesIn));
  expect([...used].filter((name) => !documented.has(name))).toEqual([]);
  expect(used.size).toBeGreaterThan(25);
});

test("every panel has a title, a unit, a query and a place of its own", async () => {
  const { panels } = await readDashboard();
  const queried = panels.filter(({ type }) => type !== "row");
  expect(queried.filter(({ targets = [] }) => targets.length === 0 || targets.some(({ expr }) => expr === ""))).toEqual(
    [],
  );
  expect(queried.filter(({ title, fieldConfig }) => title === "" || fieldConfig?.defaults.unit === undefined)).toEqual(
    [],
  );
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

test("every alert says what happened, what to do, and how severe it is", async () => {
  const rules = await readRules();
  for (const { alert, labels, annotations } of rules) {
    expect(alert).toStartWith("Switchyard");
    expect(["critical", "warning", "info"]).toContain(labels.severity);
    expect(annotations.summary.length * annotations.description.length).toBeGreaterThan(0);
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});
