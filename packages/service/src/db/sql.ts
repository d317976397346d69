/** Executes statements, on the pool or inside a transaction. Stores accept either. */
export interface Sql {
  /** Runs a statement that the server prepares once per connection under `name`; a name belongs to one text; a
   * statement without one is planned each time. */
  query<Row = Record<string, unknown>>(name: string, text: string, params?: readonly unknown[]): Promise<Row[]>;
}

/** A transaction's handle, of no use once its function has returned. */
export interface Tx extends Sql {
  readonly isTransaction: true;
}
