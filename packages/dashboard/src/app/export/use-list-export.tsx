import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { saveFile } from '../save-file.ts';
import { type CsvColumn, csvText } from './csv.ts';

/** A page of a list: its rows, and the cursor of the next page; null: it is the last. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

interface ExportOptions<Row> {
  /** Without its ending. */
  readonly fileName: string;
  readonly columns: readonly CsvColumn<Row>[];
  readonly readPage: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Row>>;
}

/** Everything that a list holds, page by page. */
async function readAll<Row>(
  readPage: ExportOptions<Row>['readPage'],
  signal: AbortSignal,
  onRows: (count: number) => void,
): Promise<Row[]> {
  const all: Row[] = [];
  for (let cursor: string | undefined; ; ) {
    const { rows, nextCursor } = await readPage(cursor, signal);
    all.push(...rows);
    onRows(all.length);
    if (nextCursor === null) return all;
    cursor = nextCursor;
  }
}

/** Buttons that save a whole list, as CSV or as the JSON of the API, and the error if that fails. */
export function useListExport<Row>({ fileName, columns, readPage }: ExportOptions<Row>) {
  const [count, setCount] = useState(0);
  const leaving = useRef<AbortController>(undefined);
  const save = useMutation({
    async mutationFn(format: 'csv' | 'json') {
      leaving.current = new AbortController();
      const { signal } = leaving.current;
      setCount(0);
      try {
        const rows = await readAll(readPage, signal, setCount);
        if (format === 'csv') saveFile(`${fileName}.csv`, 'text/csv', csvText(columns, rows));
        else saveFile(`${fileName}.json`, 'application/json', `${JSON.stringify(rows, null, 2)}\n`);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  });
  return {
    buttons: save.isPending ? (
      <Button size="sm" icon="close" onClick={() => leaving.current?.abort()}>
        Cancel export: {groupDigits(count)} rows
      </Button>
    ) : (
      <>
        <Button size="sm" icon="download" onClick={() => save.mutate('csv')}>
          Export CSV
        </Button>
        <Button size="sm" icon="download" onClick={() => save.mutate('json')}>
          JSON
        </Button>
      </>
    ),
    note: save.error && (
      <div className="p-4">
        <ErrorNote title="Export failed" error={save.error} onRetry={() => save.mutate(save.variables)} />
      </div>
    ),
  };
}
