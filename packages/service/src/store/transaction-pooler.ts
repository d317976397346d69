import type pg from 'pg';

/** The part of a connection that shows which server process serves it. */
export interface Probed {
  /** The process that the server named when the connection was opened. */
  readonly processID?: number;
  query(text: string): Promise<{ rows: { pid?: number }[] }>;
}

/** DATABASE_URL leads to a pooler that lends a server connection for one transaction only. */
export class TransactionPoolerError extends Error {
  override name = 'TransactionPoolerError';

  constructor(found: string) {
    super(
      `DATABASE_URL leads to a connection pooler such as PgBouncer, and ${found}. In transaction mode LISTEN, session locks and ` +
        'prepared statements do not hold. Name PostgreSQL itself in DATABASE_URL, or set pool_mode = session and ignore_startup_parameters there.',
    );
  }
}

const pidOf = async (client: Probed): Promise<number | undefined> =>
  (await client.query('select pg_backend_pid() as pid')).rows[0]?.pid;

/**
 * Throws TransactionPoolerError if a connection is served by different processes in successive transactions. Calls `openAnother` only if a
 * pooler is suspected between this node and the server, as poolers have process ids of their own.
 */
export async function requireOwnConnection<T extends Probed>(
  first: Probed,
  openAnother: () => Promise<T>,
  close: (another: T) => Promise<unknown>,
): Promise<void> {
  const before = await pidOf(first);
  if (first.processID === undefined || before === first.processID) return;
  const another = await openAnother();
  try {
    await another.query('begin').catch(() => {
      throw new TransactionPoolerError('it refuses transactions (pool_mode = statement)');
    });
    const others = await pidOf(another);
    const isShared = others === before || (await pidOf(first)) !== before;
    if (isShared) throw new TransactionPoolerError('two connections share a server process (pool_mode = transaction)');
  } finally {
    await close(another);
  }
}

/** The error of a first connection; a pooler that refuses the session settings of this node is named as the cause. */
export function throwPoolerNamed(error: unknown): never {
  const said = String((error as { cause?: unknown }).cause ?? error);
  const refused =
    /unsupported startup parameter[^:]*: ?(\S+)/i.exec(said) ?? /unsupported startup parameter/i.exec(said);
  if (refused) throw new TransactionPoolerError(`it refuses the session setting ${refused[1] ?? 'of a connection'}`);
  throw error;
}

/** Requires that a pool's connection has a server of its own; see `requireOwnConnection`. */
export const requireOwnServer = (first: pg.PoolClient, openAnother: () => Promise<pg.Client>): Promise<void> =>
  requireOwnConnection(
    first as unknown as Probed,
    openAnother as unknown as () => Promise<Probed & pg.Client>,
    (another) => another.end(),
  );
