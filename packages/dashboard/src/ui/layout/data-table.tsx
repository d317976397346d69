import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';
import { classNames } from '../class-names.ts';
import { ErrorNote } from '../values/error-note.tsx';
import { Skeleton } from './skeleton.tsx';

export interface Column<Row> {
  /** Unique in its table. */
  readonly header: string;
  /** Hides the header visually where the cells explain themselves; screen readers still get it. */
  readonly hidesHeader?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** Alignment; right for numbers. */
  readonly align?: 'left' | 'right';
  /**
   * Place in the row of a phone, which has two lines. `top`: the first line, at its end, for a state or an amount; `bare`: the second line,
   * without its header, for values that explain themselves; `none`: left out. Default: the second line, after its header. The first column
   * is always the title.
   */
  readonly phone?: 'top' | 'bare' | 'none';
}

interface DataTableProps<Row> {
  /** Accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** undefined: not there yet. */
  readonly rows: readonly Row[] | undefined;
  readonly rowId: (row: Row) => string;
  readonly error?: unknown;
  readonly onRetry?: () => void;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
}

const VIRTUAL_FROM = 120;
const ROW_PX = 41;

/** To make a whole row lead somewhere: the class of the link in its first cell. */
export const rowLinkClass =
  'font-medium rounded-sm after:absolute after:inset-0 after:content-[""] hover:text-accent-text';

const cellClass = <Row,>({ align }: Column<Row>) => classNames('px-4 py-2', align === 'right' && 'sm:text-right');

/** Explicit ARIA roles: on phones rows are two lines, and browsers drop the roles of a table that is not laid out as one. */
const role = (name: 'table' | 'rowgroup' | 'row' | 'columnheader' | 'cell') => ({ role: name });

/** Up to 120 rows are all drawn; of more, those in sight, with spacers in place of the others. */
function useShownRows<Row extends object>(rows: readonly Row[]) {
  const scroller = useRef<HTMLDivElement>(null);
  const isVirtual = rows.length > VIRTUAL_FROM;
  const virtualizer = useVirtualizer({
    count: rows.length,
    enabled: isVirtual,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const items = isVirtual ? virtualizer.getVirtualItems() : null;
  return {
    scroller,
    shown: items
      ? items.flatMap(({ index }) => (rows[index] ? [{ row: rows[index], index }] : []))
      : rows.map((row, index) => ({ row, index })),
    measure: isVirtual ? virtualizer.measureElement : undefined,
    before: items?.[0]?.start ?? 0,
    after: items ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) : 0,
  };
}

/**
 * A table; on phones each row has two lines: its title with a state, and the other values in a row below. It scrolls sideways when it is wider than the screen,
 * and renders only the visible rows when there are many.
 */
export function DataTable<Row extends object>({
  label,
  columns,
  rows,
  rowId,
  error,
  onRetry,
  empty,
}: DataTableProps<Row>) {
  const { scroller, shown, measure, before, after } = useShownRows(rows ?? []);
  if (error && !rows)
    return (
      <div className="p-4">
        <ErrorNote error={error} onRetry={onRetry} />
      </div>
    );
  if (rows?.length === 0) return <>{empty}</>;
  return (
    <section
      ref={scroller}
      aria-label={label}
      tabIndex={0}
      className={classNames('overflow-x-auto', measure && 'max-h-[70vh] overflow-y-auto')}
    >
      <table
        {...role('table')}
        aria-label={label}
        aria-rowcount={measure ? rows?.length : undefined}
        className="data-table w-full border-collapse"
      >
        <Head columns={columns} />
        <tbody {...role('rowgroup')}>
          {!rows && <LoadingRows columns={columns} />}
          <Spacer heightPx={before} />
          {shown.map(({ row, index }) => (
            <tr
              key={rowId(row)}
              {...role('row')}
              ref={measure}
              data-index={index}
              className="relative border-b border-line last:border-b-0 hover:bg-sunken/60"
            >
              {columns.map((column, at) => (
                <td key={column.header} {...role('cell')} {...cellProps(column, at)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          <Spacer heightPx={after} />
        </tbody>
      </table>
    </section>
  );
}

/** Class of a cell, its place on phones, and the name of its column where phones show it. */
const cellProps = <Row,>(column: Column<Row>, at: number) => {
  const place = at === 0 ? 'title' : (column.phone ?? (column.hidesHeader ? 'bare' : 'labelled'));
  return {
    className: cellClass(column),
    'data-phone': place,
    'data-label': place === 'labelled' ? column.header : undefined,
  };
};

const Head = <Row,>({ columns }: { columns: readonly Column<Row>[] }) => (
  <thead {...role('rowgroup')} className="bg-surface max-sm:sr-only sm:sticky sm:top-0 sm:z-20">
    <tr {...role('row')} className="border-b border-line text-left text-[13px] text-muted">
      {columns.map((column) => (
        <th
          key={column.header}
          {...role('columnheader')}
          scope="col"
          className={classNames(cellClass(column), 'font-medium whitespace-nowrap')}
        >
          {column.hidesHeader ? <span className="sr-only">{column.header}</span> : column.header}
        </th>
      ))}
    </tr>
  </thead>
);

const Spacer = ({ heightPx }: { heightPx: number }) =>
  heightPx > 0 ? (
    <tr>
      <td style={{ height: heightPx }} />
    </tr>
  ) : null;

const LoadingRows = <Row,>({ columns }: { columns: readonly Column<Row>[] }) =>
  ['a', 'b', 'c', 'd', 'e'].map((key) => (
    <tr key={key} className="border-b border-line last:border-b-0">
      {columns.map((column) => (
        <td key={column.header} className={cellClass(column)}>
          <Skeleton className="my-1 h-4 w-3/4 min-w-12" />
        </td>
      ))}
    </tr>
  ));
