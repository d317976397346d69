import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Command } from 'commander';
import { action } from '../command.ts';
import { EXIT, type ExitCode, failureOf, HOW_TO_SIGN_IN } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { readReadiness } from './status.ts';

interface Check {
  readonly name: string;
  readonly isGood: boolean;
  readonly found: string;
  /** The next step for the user. */
  readonly remedy?: string;
}

const MAX_CLOCK_MS = 5_000;

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check this machine, the node and the account, and suggest fixes')
    .action(action(doctor));
}

async function doctor(session: Session): Promise<ExitCode> {
  const checks = [
    checkNode(),
    await checkCredentials(session),
    ...(await checkNodeOf(session)),
    await checkKey(session),
  ];
  const isGood = checks.every((check) => check.isGood);
  session.terminal.result(checks, () =>
    checks
      .map(({ name, isGood: good, found, remedy }) => {
        const mark = good ? session.terminal.good('ok') : session.terminal.bad('!!');
        return `${mark}  ${name}: ${found}${good || !remedy ? '' : `\n    ${remedy}`}`;
      })
      .join('\n'),
  );
  return isGood ? EXIT.done : EXIT.failed;
}

const checkNode = (): Check => ({ name: 'Node', isGood: true, found: process.version });

async function checkCredentials({ store }: Session): Promise<Check> {
  const { credentialsFile: file } = store;
  const found = await stat(file).catch(() => null);
  if (!found) return { name: 'credentials', isGood: true, found: 'none kept' };
  const mode = found.mode & 0o777;
  const isGood = process.platform === 'win32' || (mode & 0o077) === 0;
  const remedy = `Others on this machine can read your keys: chmod 600 ${file}`;
  return { name: 'credentials', isGood, found: `${file}, mode ${mode.toString(8)}`, remedy };
}

async function checkNodeOf({ url }: Session): Promise<Check[]> {
  const { isReady, status, details, clockAheadMs } = await readReadiness(url);
  if (status === null) {
    const port = Number(new URL(url).port || (url.startsWith('https:') ? 443 : 80));
    const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
    const remedy = isLocal
      ? `Start one: npm start (or agentnet up). The port ${port} is ${(await isFree(port)) ? 'free' : 'taken by another program'}.`
      : 'Check the address and your connection. Set another address with --url.';
    return [{ name: 'node', isGood: false, found: `${url} does not answer`, remedy }];
  }
  const node = isReady
    ? { name: 'node', isGood: true, found: `${url} is ready` }
    : { name: 'node', isGood: false, ...notReady(url, status, details) };
  const clock = {
    name: 'clock',
    isGood: clockAheadMs === null || Math.abs(clockAheadMs) < MAX_CLOCK_MS,
    found:
      clockAheadMs === null
        ? 'the node sent no date'
        : `${Math.round(Math.abs(clockAheadMs) / 1000)} s apart from the node`,
    remedy: 'Signed payments expire by the clock: set it by NTP (timedatectl set-ntp true).',
  };
  return [node, clock];
}

/** Finding and remedy for a node with a `/readyz` that is not ready. */
function notReady(url: string, status: number, details: unknown): Pick<Check, 'found' | 'remedy'> {
  const told = details as { status?: unknown; database?: { hole?: unknown } } | null;
  const state = typeof told?.status === 'string' ? told.status : `${status}`;
  const hole = told?.database?.hole;
  if (typeof hole === 'string')
    return {
      found: `${url}: ${state}, its database lacks commits: ${hole}`,
      remedy: 'Its operator decides: docs/high-availability.md, "A hole in the ledger".',
    };
  if (state === 'draining')
    return { found: `${url}: draining`, remedy: 'It is being stopped, or taken out by its operator: try again later.' };
  return {
    found: `${url}: ${state}`,
    remedy:
      'It starts, or its database or chain does not answer: see its log, and docs/operating-a-node.md, "Health and metrics".',
  };
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

async function checkKey({ apiKey, client }: Session): Promise<Check> {
  if (apiKey === null) return { name: 'key', isGood: false, found: 'none for this node', remedy: HOW_TO_SIGN_IN };
  try {
    const { accountId, plan } = await client.getAccount();
    return { name: 'key', isGood: true, found: `of ${accountId}, plan ${plan}` };
  } catch (error) {
    return { name: 'key', isGood: false, found: failureOf(error).message };
  }
}
