import { expect, it } from 'vitest';
import { type Probed, requireOwnConnection, throwPoolerNamed } from './transaction-pooler.ts';

interface Client extends Probed {
  end(): Promise<void>;
}

/** Server processes lent by a pooler: per connection in session mode, per transaction otherwise; the last one given back first, or in turn. */
function poolerOf(mode: 'session' | 'transaction' | 'statement', order: 'last' | 'turn') {
  const idle = [11, 12, 13];
  let clients = 0;
  const lend = () => (order === 'last' ? idle.pop() : idle.shift()) as number;
  return (): Client => {
    clients += 1;
    let held: number | null = mode === 'session' ? lend() : null;
    return {
      processID: 9000 + clients,
      async query(text) {
        if (text === 'begin' && mode === 'statement') throw new Error('transaction blocks not allowed');
        const pid = held ?? lend();
        if (text === 'begin') held = pid;
        else if (held === null) idle.push(pid);
        return { rows: [{ pid }] };
      },
      end: async () => undefined,
    };
  };
}

const checkOf = (connect: () => Client) =>
  requireOwnConnection(
    connect(),
    async () => connect(),
    (another) => another.end(),
  );

it.each([
  ['transaction', 'last'],
  ['transaction', 'turn'],
  ['statement', 'last'],
] as const)('a pooler in %s mode, which lends the %s server, is named as the cause, with the remedy', (mode, order) =>
  expect(checkOf(poolerOf(mode, order))).rejects.toThrow(/PgBouncer.*pool_mode = session/),
);

it('a pooler in session mode is as good as the server itself', () =>
  expect(checkOf(poolerOf('session', 'last'))).resolves.toBeUndefined());

it('a connection to the server itself costs one question, and no further connection', async () => {
  const direct = { processID: 7, query: async () => ({ rows: [{ pid: 7 }] }) };
  const another = () => Promise.reject(new Error('not needed'));
  await requireOwnConnection(direct, another, async () => undefined);
});

it('a pooler that refuses the session settings of a node is named too; any other error stays as it is', () => {
  const refusal = new Error('the database is away', {
    cause: new Error('unsupported startup parameter: statement_timeout'),
  });
  expect(() => throwPoolerNamed(refusal)).toThrow(/PgBouncer.*statement_timeout/);
  const other = new Error('password authentication failed');
  expect(() => throwPoolerNamed(other)).toThrow(other);
});
