// A table that draws only the rows in view, so that 100,000 rows scroll like ten.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";

export interface Column<Row> {
  readonly title: string;
  /** A track of a CSS grid, such as `120px` or `minmax(160px, 1fr)`. */
  readonly width: string;
  readonly align?: "right";
  readonly cell: (row: Row) => ReactNode;
}

interface DataTableProps<Row> {
  /** What the table shows, for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly rowHeight?: number;
  /** The most space that the table takes; it scrolls inside. */
  readonly maxHeight?: number | string;
  /** Called when the last rows come into view. */
  readonly onEndReached?: () => void;
  /** For the mouse; give the keyboard a link or button in a cell. */
  readonly onRowClick?: (row: Row) => void;
}

const headHeight = 38;
const rowsBeforeEnd = 20;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, columns, rowKey, rowHeight = 44, maxHeight = "70vh", onEndReached, onRowClick } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowKey(row);
    },
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - rowsBeforeEnd) onEndReached?.();
  }, [lastShown, rows.length, onEndReached]);

  const gridTemplateColumns = columns.map(({ width }) => width).join(" ");
  // Below this width the table scrolls: the sum of the least widths of its columns.
  const minWidth = columns.reduce((sum, { width }) => sum + Number.parseInt(width.replace("minmax(", ""), 10), 0);
  const height = headHeight + rows.length * rowHeight + 1;
  return (
    // A part that scrolls has to be reachable with the keyboard.
    <div
      ref={scroller}
      className="grid-table"
      style={{ height, maxHeight }}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      tabIndex={0}
    >
      <div
        className="grid-head"
        role="row"
        style={{ gridTemplateColumns, minWidth, height: headHeight }}
        aria-rowindex={1}
      >
        {columns.map(({ title, align }) => (
          <div key={title} className="grid-cell" role="columnheader" data-align={align}>
            {title}
          </div>
        ))}
      </div>
      <div className="grid-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the row has a link or button of its own for the keyboard
            <div
              key={key}
              className="grid-row"
              role="row"
              aria-rowindex={index + 2}
              data-clickable={onRowClick === undefined ? undefined : true}
              style={{ gridTemplateColumns, minWidth, height: rowHeight, transform: `translateY(${start}px)` }}
              onClick={onRowClick === undefined ? undefined : () => onRowClick(row)}
            >
              {columns.map(({ title, align, cell }) => (
                <div key={title} className="grid-cell" role="cell" data-align={align}>
                  {cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
