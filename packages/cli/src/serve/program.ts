import { spawn } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type AgentCall, AgentError } from '@agent-network/sdk/agent';
import { CommandError } from '../exit-codes.ts';
import { type Backend, withoutOurs } from './backend.ts';

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_ERROR_CHARS = 500;

const canRun = async (path: string): Promise<boolean> =>
  access(path, constants.X_OK)
    .then(async () => (await stat(path)).isFile())
    .catch(() => false);

/** Throws `CommandError` if the program is not found, instead of listing an agent that fails every call. */
export async function requireProgram(file: string, { PATH }: NodeJS.ProcessEnv): Promise<void> {
  // Windows finds a program by endings of its own; without PATH the system looks in places of its own.
  if (process.platform === 'win32' || PATH === undefined) return;
  const folders = file.includes('/') ? [''] : PATH.split(delimiter);
  for (const folder of folders) if (await canRun(join(folder, file))) return;
  throw new CommandError(`There is no program "${file}" that can be run.`);
}

/** A local program: one run for each call. */
export const programBackend = (file: string, args: readonly string[], env: NodeJS.ProcessEnv): Backend => ({
  run: (call) => runProgram(call, file, args, withoutOurs(env)),
  close: async () => undefined,
});

/** One run of the program: the call on stdin, the result on stdout. It is killed when the call ends. */
async function runProgram(
  call: AgentCall,
  file: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<unknown> {
  const { signal, charge: _charge, ...content } = call;
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'], signal, killSignal: 'SIGTERM' });
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(content)}\n`);
  /** Lets go of the output: programs that this one started may still have it open, and write on. */
  const letGo = () => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.length <= MAX_OUTPUT_BYTES) return;
    child.kill('SIGKILL');
    letGo();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-MAX_ERROR_CHARS);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(new AgentError('program_failed', error.message)));
    child.once('close', resolve);
    signal.addEventListener('abort', letGo);
  });
  signal.throwIfAborted();
  if (output.length > MAX_OUTPUT_BYTES) throw new AgentError('result_too_large', 'The program wrote more than 1 MiB.');
  if (code !== 0) throw new AgentError('program_failed', errors.trim() || `The program ended with code ${code}.`);
  return readResult(output.trim());
}

/** Parses JSON; other output becomes text. */
function readResult(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return { text: output };
  }
}
