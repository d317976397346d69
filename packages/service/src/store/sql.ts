/** Executes statements, on the pool or inside a transaction. Stores accept either. */
export interface Sql {
  /**
   * Runs a statement that the server prepares once per connection under `name`; each name belongs to one text. Without a name, the
   * statement is planned each time.
   */
  query<Row = Record<string, unknown>>(name: string, text: string, params?: readonly unknown[]): Promise<Row[]>;
}

/** Handle of a transaction, invalid once its function has returned. */
export interface Tx extends Sql {
  readonly isTransaction: true;
  /** Emits a message to this process's `Database.onCommit` handlers after the commit. A hint: lost if the process dies or the outcome is unknown. */
  afterCommit(topic: string, message: string): void;
}

/** A statement as data, with the rows that it returns. */
export interface Statement<Row = unknown> {
  readonly name: string;
  readonly text: string;
  readonly params: readonly unknown[];
  /** Never set: it carries the type. */
  readonly row?: Row;
}

export const run = <Row>(sql: Sql, { name, text, params }: Statement<Row>): Promise<Row[]> =>
  sql.query<Row>(name, text, params);

/** The server's answers to statements that were committed together. */
export interface Flushed {
  rowsOf<Row>(statement: Statement<Row>): Row[];
}
