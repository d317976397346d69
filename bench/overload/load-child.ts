import { type OpenLoop, type OpenLoopResult, runOpenLoop } from './open-loop.ts';

export type LoadAnswer = { readonly result: OpenLoopResult } | { readonly error: string };

/** A separate process, so that its waits are for the node and not for other load. */
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
