import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LOCAL_CHAIN_ID } from './addresses.ts';
import { callChain } from './chain-rpc-client.ts';
import { LocalChainError } from './local-chain-error.ts';

/** A running anvil. `ended` resolves when the process is gone, for any reason. */
export type AnvilProcess = { port: number; rpcUrl: string; pid: number; ended: Promise<void>; stop(): Promise<void> };

/**
 * Watchdog script: ends anvil when the script's standard input ends. We hold the other end of that pipe and the kernel closes it when we
 * die, however we die, so no anvil outlives us. The subshell uses the shell's own `read` to have no process of its own to lose.
 */
const WATCHDOG = `
exec 3<&0
"$@" </dev/null 3<&- & anvil=$!
(while read -r _ <&3; do :; done; kill -KILL $anvil) >/dev/null 2>&1 & guard=$!
wait $anvil; code=$?
kill $guard 2>/dev/null
exit $code`;

const START_TIMEOUT_MS = 60_000;
const START_TRIES = 5;
const KEPT_STDERR_CHARS = 4_000;

/**
 * Starts anvil with `extraArgs` on 127.0.0.1 and resolves when it answers. It runs in a session of its own, so that Ctrl-C in the terminal
 * does not reach it before its state is saved. Throws `ANVIL_FAILED` with anvil's error output.
 */
export async function startAnvil(
  binary: string,
  extraArgs: readonly string[],
  { port, chainId = LOCAL_CHAIN_ID }: { port?: number | undefined; chainId?: number | undefined } = {},
): Promise<AnvilProcess> {
  for (let tries = 1; ; tries++) {
    const anvil = await tryAnvil(binary, extraArgs, { port: port ?? (await freePort()), chainId });
    if (!('refusal' in anvil)) return anvil;
    // Between its choice and its use, another program may take a port.
    if (port === undefined && tries < START_TRIES && /address (already )?in use/i.test(anvil.refusal)) continue;
    throw new LocalChainError('ANVIL_FAILED', anvil.refusal);
  }
}

async function tryAnvil(
  binary: string,
  extraArgs: readonly string[],
  { port, chainId }: { readonly port: number; readonly chainId: number },
): Promise<AnvilProcess | { readonly refusal: string }> {
  const args = ['-c', WATCHDOG, 'anvil-watchdog', binary, '--port', String(port), ...baseArgs(chainId), ...extraArgs];
  const child = spawn('sh', args, { detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin?.on('error', () => {});
  const stderr = collectText(child);
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const anvil: AnvilProcess = {
    port,
    rpcUrl: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    ended,
    stop: async () => {
      child.stdin?.destroy();
      await ended;
    },
  };
  const ready = await Promise.race([untilAnswering(anvil.rpcUrl, chainId), ended.then(() => false)]);
  if (ready && child.exitCode === null) return anvil;
  await anvil.stop();
  return { refusal: `anvil did not start on port ${port}: ${stderr() || 'no answer'}` };
}

function baseArgs(chainId: number): string[] {
  return [
    ...['--host', '127.0.0.1', '--chain-id', String(chainId), '--hardfork', 'prague', '--accounts', '0'],
    ...['--order', 'fifo', '--gas-limit', '1000000000', '--base-fee', '0', '--no-request-size-limit', '--quiet'],
    // Pages of browsers have no business with its own port: the front checks who calls.
    '--no-cors',
    // Keeps transactions, receipts and logs of this many blocks. Memory levels off below 300 MB.
    ...['--transaction-block-keeper', '50000'],
  ];
}

async function untilAnswering(rpcUrl: string, wanted: number): Promise<boolean> {
  for (const start = Date.now(); Date.now() - start < START_TIMEOUT_MS; await delay(10)) {
    const chainId = await callChain<string>(rpcUrl, 'eth_chainId').catch(() => undefined);
    if (chainId !== undefined) return Number(chainId) === wanted;
  }
  return false;
}

function collectText(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).slice(-KEPT_STDERR_CHARS);
  });
  return () => text.trim();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
