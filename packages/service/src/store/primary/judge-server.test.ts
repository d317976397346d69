import { describe, expect, test } from 'vitest';
import { judgeServer, laterOf, type Promised, type ServerPosition, withCommit } from './judge-server.ts';

const promised: Promised = { systemId: '7', timeline: 3, position: 1000n, transactions: ['41', '42'], acceptedAt: 0n };
const server = (found: Partial<ServerPosition> = {}): ServerPosition => ({
  systemId: '7',
  isStandby: false,
  isPromising: true,
  timeline: 3,
  position: 1100n,
  replayedTo: null,
  missing: [],
  ...found,
});
const kind = (found: Partial<ServerPosition>, acceptedAt = 0n) => judgeServer(server(found), promised, acceptedAt).kind;

describe('a server is refused', () => {
  test.each<[string, Partial<ServerPosition>]>([
    ['of another database cluster', { systemId: '8', timeline: 9, position: 9_000_000n }],
    ['of an earlier timeline, however far it is', { timeline: 2, position: 9_000_000n }],
    ['that ends before the last acknowledged commit', { position: 999n }],
    [
      'promoted before the last acknowledged commit, however far it is now',
      { timeline: 4, replayedTo: 1000n, position: 9_000_000n },
    ],
    ['without an acknowledged transaction, on the same timeline', { missing: ['42'] }],
    ['without an acknowledged transaction, promoted and started anew since', { timeline: 5, missing: ['41'] }],
  ])('%s', (_, found) => expect(kind(found)).toBe('hole'));

  test('as a standby, which is no hole', () =>
    expect(kind({ isStandby: true, timeline: null, position: null })).toBe('standby'));
});

describe('a server is used', () => {
  test('that has everything, on its timeline or a later one', () => {
    expect(kind({})).toBe('good');
    expect(kind({ timeline: 4, replayedTo: 1001n })).toBe('good');
  });
  test('when nothing was promised', () => expect(judgeServer(server({ position: 1n }), null, 0n).kind).toBe('good'));
  test('with a hole that an operator accepted, unless it lacks commits acknowledged since', () => {
    const restored = { systemId: '8', timeline: 1, position: 5n };
    expect(kind(restored, 10n)).toBe('good');
    const after = withCommit(promised, { ...restored, position: 50n, transaction: '1', acceptedAt: 10n });
    expect(after).toEqual({ ...restored, position: 50n, transactions: ['1'], acceptedAt: 10n });
    expect(judgeServer(server(restored), after, 10n).kind).toBe('hole');
    expect(judgeServer(server(restored), after, 11n).kind).toBe('good');
  });
});

describe('a promise', () => {
  const commit = { systemId: '7', timeline: 3, position: 1200n, transaction: '43', acceptedAt: 0n };

  test('grows with each commit, and remembers the last ones in the order of their answers', () => {
    const next = withCommit(withCommit(promised, commit), { ...commit, position: 1150n, transaction: '44' });
    expect(next).toMatchObject({ position: 1200n, transactions: ['41', '42', '43', '44'] });
    let many: Promised = promised;
    for (let id = 100; id < 300; id++) many = withCommit(many, { ...commit, transaction: String(id) });
    expect(many.transactions).toHaveLength(64);
    expect(many.transactions.at(-1)).toBe('299');
  });
  test('does not go back for a commit of the server before', () => {
    const moved = withCommit(promised, { ...commit, timeline: 4, position: 1050n });
    expect(moved).toMatchObject({ timeline: 4, position: 1050n, transactions: ['43'] });
    expect(withCommit(moved, { ...commit, position: 9999n })).toBe(moved);
  });
  test('of two processes, the later holds', () => {
    const later = { ...promised, timeline: 4, position: 10n };
    expect(laterOf(promised, later)).toBe(later);
    expect(laterOf(later, promised)).toBe(later);
    expect(laterOf(null, promised)).toBe(promised);
    expect(laterOf(later, { ...promised, acceptedAt: 5n }).acceptedAt).toBe(5n);
  });
});
