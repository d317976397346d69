import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take long whoever runs them: begun last, one of them would run alone at the end. Those that wait most of the time
 * stand beside one that keeps the processors busy.
 */
const longest = [
  'test/flows/crash-points.test.ts',
  'test/flows/two-processes.test.ts',
  'test/flows/slow-database.test.ts',
  'test/chaos/model/model.test.ts',
  'test/process/npm-start.test.ts',
  // Together, because they share a browser and a node.
  'packages/dashboard/test/',
  'test/adapters/adapters.test.ts',
  'test/api/bad-input.test.ts',
  'test/registry/write/reorg.test.ts',
  'test/chaos/torture/bank.test.ts',
  'test/invocations/stream/cancel.test.ts',
  'test/network/calls/three-nodes.test.ts',
  'test/network/calls/home-trouble.test.ts',
  'test/network/nodes/feed.test.ts',
  'test/spec/fuzz.test.ts',
  'chain/src/journal/chain-journal.test.ts',
  'test/registry/write/crash.test.ts',
  'test/events/webhook-dispatcher.test.ts',
  'test/network/nodes/forged.test.ts',
  'test/queue/queue.test.ts',
  'test/db/embedded-postgres.test.ts',
  'test/flows/database-away.test.ts',
  'test/invocations/stream/polled-agents.test.ts',
  'packages/cli/test/terminal.test.ts',
  'test/invocations/stream/several-processes.test.ts',
  'examples/examples.test.ts',
  'test/network/calls/killed-call.test.ts',
  'test/invocations/stream/killed-calls.test.ts',
  'test/flows/killed-before-answer.test.ts',
  'test/db/listener-survival.test.ts',
  'test/flows/what-takes-long.test.ts',
  'test/db/database-away.test.ts',
  'test/queue/heartbeat.test.ts',
  'test/process/repaired-chain.test.ts',
  'test/network/calls/remote-call.test.ts',
];

/** They stand together, so that the node they share ends early; see packages/service/test/support/lent-harness.ts. */
const borrowsNode = (file: string): boolean => readFileSync(file, 'utf8').includes('borrowHarness(');

const rankOf = ({ moduleId }: TestSpecification): number => {
  const index = longest.findIndex((file) => moduleId.includes(file));
  if (index !== -1) return index;
  return borrowsNode(moduleId) ? longest.length : longest.length + 1;
};

/** Runs the longest test files first, on any machine: vitest knows durations only from earlier runs. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = (await super.sort(files)).map((file) => ({ file, rank: rankOf(file) }));
    return ranked.toSorted((a, b) => a.rank - b.rank).map(({ file }) => file);
  }
}
