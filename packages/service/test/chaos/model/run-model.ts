import fc from 'fast-check';
import type { Log } from '../../../src/lib/telemetry/log.ts';
import type { TestDatabase } from '../../support/test-database.ts';
import { type Command, type CurrentModel, commandsOf, type Tally } from './commands.ts';
import { endRun } from './end-run.ts';
import { startRun } from './model-run.ts';
import { FEE_BPS, type ModelWorld, startModelWorld, WALLET_MICRO } from './model-world.ts';
import { newMoneyModel } from './money-model.ts';

export interface ModelOptions {
  readonly runs: number;
  readonly seed: number;
  /** From the report of a failure: the run, and the commands of it that are left. */
  readonly path?: string | undefined;
  readonly replayPath?: string | undefined;
  /** The most commands of a run. */
  readonly commands?: number;
  /** A database for each world; default: the test run's. */
  readonly newDatabase?: () => Promise<TestDatabase>;
  readonly log?: Log | undefined;
  readonly onRun?: (runs: number) => void;
}

export interface ModelReport {
  readonly runs: number;
  readonly tally: Tally;
  readonly elapsedMs: number;
  /** The failure, with the way to reproduce it; null: none. */
  readonly failure: string | null;
}

/** Runs of one world: the audit at the end of each reads all that its world has, and what a world has is to stay small. */
const RUNS_OF_A_WORLD = 100;
const WALLETS_OF_A_RUN = 2;
/** How long a failure is looked at for a shorter way to it. */
const SHRUNK_FOR_MS = 90_000;

/** Lets clients, agents, chain and processes act at random, in several runs, and compares each step with the model. */
export async function runModel(options: ModelOptions): Promise<ModelReport> {
  const startMs = performance.now();
  const tally: Tally = new Map();
  const worlds = createWorlds(options);
  let runs = 0;
  let failedAtMs = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(fc.commands(commandsOf(tally), commandsFrom(options)), async (commands) => {
    // Then what was found so far is told.
    fc.pre(performance.now() < failedAtMs + SHRUNK_FOR_MS);
    try {
      await runOnce(await worlds.current(), commands);
    } catch (error) {
      failedAtMs = Math.min(failedAtMs, performance.now());
      await worlds.leave();
      throw error;
    }
    if (failedAtMs === Number.POSITIVE_INFINITY) {
      runs += 1;
      options.onRun?.(runs);
    }
  });
  try {
    const { seed, runs: numRuns, path } = options;
    const details = await fc.check(
      property,
      path === undefined ? { seed, numRuns } : { seed, path, numRuns: 1, endOnFailure: true },
    );
    const failure = details.failed ? `${fc.defaultReportMessage(details)}\n${details.errorInstance}` : null;
    return { runs, tally, elapsedMs: performance.now() - startMs, failure };
  } finally {
    await worlds.leave();
  }
}

async function runOnce(world: ModelWorld, commands: Iterable<Command>): Promise<void> {
  const real = await startRun(world);
  const model: CurrentModel = { now: newMoneyModel(WALLET_MICRO, FEE_BPS) };
  await fc.asyncModelRun(() => ({ model, real }), commands);
  await endRun(real, model.now);
}

const commandsFrom = ({ commands = 24, replayPath }: ModelOptions) => ({
  maxCommands: commands,
  size: 'max' as const,
  ...(replayPath === undefined ? {} : { replayPath }),
});

/** One world after the other. A run that failed leaves one that no other can use. */
function createWorlds({ runs, newDatabase, log }: Pick<ModelOptions, 'runs' | 'newDatabase' | 'log'>) {
  let world: { parts: ModelWorld; database: TestDatabase | undefined } | null = null;
  const leave = async () => {
    const left = world;
    world = null;
    await left?.parts.stop();
    await left?.database?.drop();
  };
  return {
    leave,
    async current(): Promise<ModelWorld> {
      if (world && world.parts.walletsLeft() < WALLETS_OF_A_RUN) await leave();
      if (!world) {
        const database = await newDatabase?.();
        const wallets = Math.min(RUNS_OF_A_WORLD, runs) * WALLETS_OF_A_RUN;
        world = { database, parts: await startModelWorld({ wallets, database, log }) };
      }
      return world.parts;
    },
  };
}
