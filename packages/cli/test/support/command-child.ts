import { Readable } from 'node:stream';
import { run } from '../../src/program.ts';
import type { CommandLine, Ended } from './command-lines.ts';

/** Runs one command line after another, each with standard streams, environment and exit code of its own. */
process.on('message', async ({ args, input, env }: CommandLine) => {
  const said = { stdout: '', stderr: '' };
  process.argv = [process.execPath, 'agentnet', ...args];
  process.exitCode = undefined;
  Object.assign(process.env, env);
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from(input === '' ? [] : [input]) });
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (part: string | Uint8Array) => {
      said[name] += typeof part === 'string' ? part : Buffer.from(part).toString('utf8');
      return true;
    };
  await run(process);
  for (const name of Object.keys(env)) delete process.env[name];
  process.send?.({ code: Number(process.exitCode ?? 0), ...said } satisfies Ended);
});
/** The test's process ended without stopping this one. */
process.once('disconnect', () => process.exit(1));
process.send?.('ready');
