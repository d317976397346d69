import { settleBills } from '../../../../src/calls/finish/settle-bills.ts';
import { collectRefunds } from '../../../../src/calls/remote/settle-home-calls.ts';
import { freePort } from '../../../../src/compose/local/free-port.ts';
import { readTransfers } from '../../../../src/payments/reconcile/read-transfers.ts';
import { walletByBooks } from '../../../support/books.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../../support/harness.ts';
import { until } from '../../../support/until.ts';
import { type HomeProxy, startHomeProxy } from './home-proxy.ts';

/** A node on the chain of another. */
export const startBeside = (home: Pick<Harness, 'rpcUrl'>, options: HarnessOptions = {}): Promise<Harness> =>
  startHarness({ ...options, env: { ...options.env, CHAIN_RPC_URL: home.rpcUrl } });

/** A node that is reached through a proxy only. */
export async function startBehindProxy(options: HarnessOptions = {}): Promise<Harness & { readonly proxy: HomeProxy }> {
  const proxy = await startHomeProxy();
  const port = await freePort(0);
  proxy.aim(port);
  const home = await startHarness({ ...options, env: { ...options.env, PORT: String(port), BASE_URL: proxy.url } });
  return {
    ...home,
    proxy,
    async stop() {
      await proxy.stop();
      await home.stop();
    },
  };
}

/** Does now what is done every two seconds for what is paid to other nodes and comes from them. */
export async function moveOn({ ctx }: Harness): Promise<void> {
  for (const work of [settleBills, readTransfers, collectRefunds]) await work(ctx);
}

/** Waits, doing that, until nothing is under way: the books of each node say what the chain says. */
export async function untilSettled(...nodes: readonly Harness[]): Promise<void> {
  for (const node of nodes) {
    const isSettled = async () => {
      await moveOn(node);
      const { status, inFlight } = await node.ctx.reserves.read();
      const isSame = (await walletByBooks(node.databaseUrl)) === (await node.usdcOf(node.ctx.wallet.address));
      return status === 'balanced' && isSame && inFlight.outgoing === '0.00';
    };
    await until(isSettled);
  }
}
