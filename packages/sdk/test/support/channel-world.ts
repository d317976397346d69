import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ChannelOptions } from '../../src/channels/channel-payer.ts';
import { createClient } from '../../src/client.ts';
import { createPayer } from '../../src/payer.ts';
import { channelNode, type Lies } from './channel-node.ts';
import { startFakeNode } from './fake-node.ts';

export const call = { params: { agentId: 'agt_0123456789abcdef' }, body: { task: 'x' } };

/** A node, a wallet of its own and clients that pay from it. */
export async function startWorld(lies: Lies = {}) {
  const node = channelNode(lies);
  const server = await startFakeNode((seen) => node.answer(seen));
  const account = privateKeyToAccount(generatePrivateKey());
  const clientOf = (channels: ChannelOptions = {}, maxPerCall = '0.01') => {
    const payer = createPayer({ account, maxPerCall, channels });
    const client = createClient({ baseUrl: server.baseUrl, payer, maxRetries: 0 });
    return { payer, invoke: () => client.invokeAgent(call) as Promise<unknown> };
  };
  const only = () => {
    const [books, ...others] = node.channels.values();
    if (!books || others.length > 0) throw new Error(`there are ${node.channels.size} channels`);
    return books;
  };
  const deposits = () =>
    new Set(
      node.payments.flatMap(({ payload: { deposit } }) =>
        deposit ? [deposit.authorization.erc3009Authorization.salt] : [],
      ),
    ).size;
  return {
    node,
    server,
    account,
    clientOf,
    only,
    deposits,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The largest sum that was signed. */
export const highest = (world: { node: { payments: { payload: { voucher: { maxClaimableAmount: string } } }[] } }) =>
  world.node.payments.reduce((most, { payload }) => {
    const max = BigInt(payload.voucher.maxClaimableAmount);
    return max > most ? max : most;
  }, 0n);
