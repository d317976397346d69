const PAGE = 200;

export interface Page {
  /** Rows of greater ids; the empty text: from the first. */
  readonly after: string;
  readonly limit: number;
}

/** Uses all rows of a list, in the order of ids: rows that stay in the list do not keep those behind them from being used. */
export async function inPages<Row extends { readonly id: string }>(
  list: (page: Page) => Promise<Row[]>,
  use: (rows: Row[]) => Promise<void>,
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await list({ after, limit: PAGE });
    if (rows.length > 0) await use(rows);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}
