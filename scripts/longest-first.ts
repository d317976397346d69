import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take long whoever runs them: begun last, one of them would run alone at the end. Most of them wait for most of their
 * time.
 */
const longest = [
  'test/flows/crash-points.test.ts',
  'test/flows/two-processes.test.ts',
  'test/flows/slow-database.test.ts',
  'test/chaos/model/model.test.ts',
  'test/process/npm-start.test.ts',
  'test/calls/protocols/adapters.test.ts',
  'test/http/api/bad-input.test.ts',
  'test/registry/write/reorg.test.ts',
  'test/chaos/torture/bank.test.ts',
  'test/calls/stream/cancel.test.ts',
  'test/network/calls/three-nodes.test.ts',
  'test/network/calls/home-trouble.test.ts',
  'test/network/nodes/feed.test.ts',
  'test/spec/fuzz.test.ts',
  'chain/src/journal/chain-journal.test.ts',
  'test/registry/write/crash.test.ts',
  'test/events/webhook-dispatcher.test.ts',
  'test/network/nodes/forged.test.ts',
  'test/store/embedded-postgres.test.ts',
  'test/flows/database-away.test.ts',
  'test/calls/stream/polled-agents.test.ts',
  'packages/cli/test/terminal.test.ts',
  'test/calls/stream/several-processes.test.ts',
  'examples/examples.test.ts',
  'test/network/calls/killed-call.test.ts',
  'test/calls/stream/killed-calls.test.ts',
  'test/flows/killed-before-answer.test.ts',
  'test/store/listener-survival.test.ts',
  'test/flows/what-takes-long.test.ts',
  'test/store/database-away.test.ts',
  'test/store/queue/heartbeat.test.ts',
  'test/process/repaired-chain.test.ts',
  'test/network/calls/remote-call.test.ts',
];

interface Ranked {
  readonly file: TestSpecification;
  readonly rank: number;
}

const ranked = (files: readonly TestSpecification[], rankOf: (file: TestSpecification) => number): Ranked[] =>
  files.map((file) => ({ file, rank: rankOf(file) })).toSorted((a, b) => a.rank - b.rank);

/** They stand together, so that the node they share ends early; see packages/service/test/support/lent-harness.ts. */
const borrowsNode = (file: string): boolean => readFileSync(file, 'utf8').includes('borrowHarness(');

const rankOf = ({ moduleId }: TestSpecification): number => {
  const index = longest.findIndex((file) => moduleId.includes(file));
  if (index !== -1) return index;
  return borrowsNode(moduleId) ? longest.length : longest.length + 1;
};

/** Journeys through the dashboard, the longest first: a browser, a node and a database keep the processors busy. */
const isJourney = ({ moduleId }: TestSpecification): boolean => moduleId.includes('packages/dashboard/test/');
const longestJourneys = ['payments', 'agents', 'try-it', 'webhooks', 'invocations', 'tasks', 'network', 'explore'];
const journeyRankOf = ({ moduleId }: TestSpecification): number => {
  const index = longestJourneys.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return index === -1 ? longestJourneys.length : index;
};

/** The first files keep the processors busy themselves. Then a journey comes with every long file, or with as many short ones. */
const BUSY_FILES = 5;
const SHORT_FILES = 10;

/** The others in their order, with the journeys between them. */
function* mixed(others: readonly Ranked[], journeys: readonly Ranked[]) {
  const left = [...journeys];
  let passed = 0;
  for (const [index, other] of others.entries()) {
    yield other;
    passed += other.rank < longest.length ? SHORT_FILES : 1;
    const journey = index >= BUSY_FILES && passed >= SHORT_FILES ? left.shift() : undefined;
    if (journey === undefined) continue;
    passed = 0;
    yield journey;
  }
  yield* left;
}

/** Runs the longest test files first, on any machine, and journeys between those that wait: vitest knows durations only from earlier runs. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const journeys = ranked(sorted.filter(isJourney), journeyRankOf);
    const others = ranked(
      sorted.filter((file) => !isJourney(file)),
      rankOf,
    );
    return [...mixed(others, journeys)].map(({ file }) => file);
  }
}
