import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bundled } from '../../../service/test/support/bundled.ts';

export interface CommandLine {
  readonly args: readonly string[];
  /** Content of stdin; default: nothing. */
  readonly input: string;
  /** Added to the environment of all. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunLine = (args: readonly string[], more?: Partial<Omit<CommandLine, 'args'>>) => Promise<Ended>;

export const BIN = join(import.meta.dirname, '../../bin/agentnet.js');
const MAIN = join(import.meta.dirname, '../../src/main.ts');
const CHILD = join(import.meta.dirname, 'command-child.ts');

/** The modules of `BIN` in one file, since loading them would be most of each command's time. */
export const bundledMain = (): Promise<string> => bundled(MAIN);

/** Runs a command line as a person does: by the program in a process of its own. */
export const inItsProcess =
  (base: () => NodeJS.ProcessEnv, program: () => string | Promise<string> = () => BIN): RunLine =>
  async (args, { input = '', env = {} } = {}) => {
    const line = [await program(), ...args];
    return new Promise((resolve) => {
      const options = { env: { ...base(), ...env } };
      const child = execFile(process.execPath, line, options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  };

/** Runs one command line after another in one process, since loading the program would be most of each one's time. */
export async function startCommandLines(env: NodeJS.ProcessEnv): Promise<{ run: RunLine; stop(): Promise<void> }> {
  const child = fork(CHILD, { env, execArgv: [] });
  const exited = once(child, 'exit');
  const ended = exited.then(([code]): never => {
    throw new Error(`the process of the command lines ended with ${code}`);
  });
  ended.catch(() => undefined);
  const next = async () => (await Promise.race([once(child, 'message'), ended]))[0];
  await next();
  let turn: Promise<unknown> = Promise.resolve();
  return {
    run(args, { input = '', env: own = {} } = {}) {
      const done = turn.then(async (): Promise<Ended> => {
        child.send({ args, input, env: own } satisfies CommandLine);
        return next();
      });
      turn = done.catch(() => undefined);
      return done;
    },
    async stop() {
      child.kill();
      await exited;
    },
  };
}
