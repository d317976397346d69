import { callChain } from '@agent-network/chain/chain-rpc-client';
import { until } from '../../../src/lib/until.ts';
import { walletByBooks } from '../../support/books.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../support/harness.ts';

const ETHER = '0x8ac7230489e80000';

/** A node on the chain of another, with gas there. */
export async function startBeside(home: Harness, options: HarnessOptions = {}): Promise<Harness> {
  const here = await startHarness({ ...options, env: { ...options.env, CHAIN_RPC_URL: home.rpcUrl } });
  for (const { address } of here.ctx.senders) await callChain(home.rpcUrl, 'anvil_setBalance', address, ETHER);
  await here.ctx.gas.refresh();
  return here;
}

/** Waits until nothing is under way: the books of each node say what the chain says, to the last micro-USDC. */
export async function untilSettled(...nodes: readonly Harness[]): Promise<void> {
  for (const node of nodes) {
    const isSettled = async () => {
      const { status, inFlight } = await node.ctx.reserves.read();
      const isSame = (await walletByBooks(node.databaseUrl)) === (await node.usdcOf(node.ctx.wallet.address));
      return status === 'balanced' && isSame && inFlight.outgoing === '0.00' ? true : null;
    };
    if (!(await until(isSettled, { timeoutMs: 20_000, firstMs: 50, mostMs: 500 })))
      throw new Error(`not settled: ${JSON.stringify(await node.ctx.reserves.read())}`);
  }
}
