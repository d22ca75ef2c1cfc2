// A table that draws only the rows in view, so that 100,000 rows scroll like ten.

import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef } from "react";

export interface Column<Row> {
  readonly title: string;
  /** A track of a CSS grid, such as `120px` or `minmax(160px, 1fr)`. */
  readonly width: string;
  readonly align?: "right";
  /** The name under which the page sorts by this column. Absent: it does not. */
  readonly sortName?: string;
  readonly cell: (row: Row) => ReactNode;
}

export function actionsColumn<Row>(width: string, cell: Column<Row>["cell"]): Column<Row> {
  return { title: "Actions", width, align: "right", cell };
}

export interface Sorting {
  readonly by: string;
  readonly isDescending: boolean;
}

export interface DataTableProps<Row> {
  /** What the table shows, for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** Absent: a row is its place. For lists whose rows are all new after each refresh: changed texts cost less than new rows. */
  readonly rowKey?: ((row: Row) => string) | undefined;
  readonly rowHeight?: number;
  /** The most space that the table takes; it scrolls inside. */
  readonly maxHeight?: number | string;
  /** How the page has sorted the rows. */
  readonly sorting?: Sorting;
  /** Called with the `sortName` of a column whose title was pressed. */
  readonly onSort?: (name: string) => void;
  /** Called when the last rows come into view. */
  readonly onEndReached?: (() => void) | undefined;
  /** For the mouse; give the keyboard a link or button in a cell. */
  readonly onRowClick?: (row: Row) => void;
}

const headHeight = 38;
const rowsBeforeEnd = 20;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, columns, rowKey, rowHeight = 44, maxHeight = "70vh", onEndReached, onRowClick } = props;
  const { sorting, onSort } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined || rowKey === undefined ? index : rowKey(row);
    },
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - rowsBeforeEnd) onEndReached?.();
  }, [lastShown, rows.length, onEndReached]);

  const grid = toGrid(columns);
  const clicked = useRef(onRowClick);
  useLayoutEffect(() => {
    clicked.current = onRowClick;
  });
  // The same function always: rows that have not changed are not drawn again.
  const click = useCallback((row: unknown) => clicked.current?.(row as Row), []);
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
      <div className="grid-head" role="row" style={{ ...grid, height: headHeight }} aria-rowindex={1}>
        {columns.map(({ title, align, sortName }) => (
          <div
            key={title}
            className="grid-cell"
            role="columnheader"
            data-align={align}
            aria-sort={sortName !== undefined && sorting?.by === sortName ? toDirection(sorting) : undefined}
          >
            {sortName === undefined || onSort === undefined ? (
              title
            ) : (
              <button type="button" className="sort-button" onClick={() => onSort(sortName)}>
                {title}
                <span aria-hidden="true">{sorting?.by !== sortName ? "" : sorting.isDescending ? " ↓" : " ↑"}</span>
              </button>
            )}
          </div>
        ))}
      </div>
      <div className="grid-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <TableRow
              key={key}
              row={row}
              index={index}
              start={start}
              columns={columns as readonly Column<unknown>[]}
              height={rowHeight}
              onClick={onRowClick === undefined ? undefined : click}
            />
          );
        })}
      </div>
    </div>
  );
}

interface TableRowProps {
  readonly row: unknown;
  readonly index: number;
  readonly start: number;
  readonly columns: readonly Column<unknown>[];
  readonly height: number;
  readonly onClick: ((row: unknown) => void) | undefined;
}

const TableRow = memo(function TableRow({ row, index, start, columns, height, onClick }: TableRowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the row has a link or button of its own for the keyboard
    <div
      className="grid-row"
      role="row"
      aria-rowindex={index + 2}
      data-clickable={onClick === undefined ? undefined : true}
      style={{ ...toGrid(columns), height, transform: `translateY(${start}px)` }}
      onClick={onClick === undefined ? undefined : () => onClick(row)}
    >
      {columns.map(({ title, align, cell }) => (
        <div key={title} className="grid-cell" role="cell" data-align={align}>
          {cell(row)}
        </div>
      ))}
    </div>
  );
});

/** Below the least width the table scrolls: the sum of the least widths of its columns. */
function toGrid(columns: readonly { readonly width: string }[]) {
  const minWidth = columns.reduce((sum, { width }) => sum + Number.parseInt(width.replace("minmax(", ""), 10), 0);
  return { gridTemplateColumns: columns.map(({ width }) => width).join(" "), minWidth };
}

function toDirection({ isDescending }: Sorting): "ascending" | "descending" {
  return isDescending ? "descending" : "ascending";
}
