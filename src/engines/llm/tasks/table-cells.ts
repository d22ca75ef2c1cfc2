// Rows and columns of a table, counted from its cells and how far they span.

import type { JsonObject } from "../../../providers/dialect.ts";
import { listIn } from "../definition.ts";

const nowhere = { left: null, top: null, width: null, height: null };

export function countCells(table: JsonObject): JsonObject {
  // Places that a cell of a row above reaches down to.
  const taken = new Set<string>();
  let columns = 0;
  const rowCount = listIn(table, "rows").length;
  const rows = listIn(table, "rows").map((row, rowIndex) => {
    let column = 0;
    const cells = listIn(row, "cells").map((cell) => {
      while (taken.has(`${rowIndex} ${column}`)) column++;
      const placed = { ...cell, row_index: rowIndex, col_index: column, confidence: null, bounding_box: nowhere };
      const width = Number(cell["col_span"]);
      const below = Math.min(rowCount, rowIndex + Number(cell["row_span"]));
      for (let reached = rowIndex + 1; reached < below; reached++)
        for (let along = 0; along < width; along++) taken.add(`${reached} ${column + along}`);
      column += width;
      columns = Math.max(columns, column);
      return placed;
    });
    return { cells };
  });
  return { rows, num_rows: rows.length, num_cols: columns };
}
