import { type OpenLoop, type OpenLoopResult, runOpenLoop } from './open-loop.ts';

export type LoadAnswer = { readonly result: OpenLoopResult } | { readonly error: string };

/** A process of its own: what it waits for is the node, and not the other load. */
process.on('message', async (job: OpenLoop) => {
  let answer: LoadAnswer;
  try {
    answer = { result: await runOpenLoop(job) };
  } catch (error) {
    answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.send?.(answer);
});
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => undefined);
