import { callChainBatch } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { Statement } from '@agent-network/contracts/payments/statements';
import { encodeFunctionData } from 'viem';
import { earnedBy, type ModelRun, type RunClient } from './model-run.ts';
import type { MoneyModel } from './money-model.ts';

/** State of a run as seen by users and on the chain. */
export interface Seen {
  readonly clients: readonly {
    readonly availableMicro: bigint;
    readonly heldMicro: bigint;
    /** Closing balance of the treasury's statement, and the sum of its entries. */
    readonly closingMicro: bigint;
    readonly entriesMicro: bigint;
    readonly walletMicro: bigint;
  }[];
  readonly requests: ReadonlyMap<string, SeenRequest>;
  readonly earnedMicro: bigint;
}

interface SeenRequest {
  readonly status: string;
  readonly costMicro: bigint | null;
  readonly refundMicro: bigint | null;
}

/** Requests that ended are asked for once, and once more at the end of the run. */
const known = new WeakMap<ModelRun, Map<string, SeenRequest>>();

export const forgetSeen = (run: ModelRun): boolean => known.delete(run);

export async function readSeen(run: ModelRun): Promise<Seen> {
  const ended = known.get(run) ?? new Map<string, SeenRequest>();
  known.set(run, ended);
  const [earnedMicro, wallets, requests, ...clients] = await Promise.all([
    earnedBy(run.world),
    walletsOf(run),
    Promise.all(
      [...run.requestIds].map(async ([ref, id]) => [ref, ended.get(ref) ?? (await readRequest(run, ref, id))] as const),
    ),
    ...run.clients.map((client) => readClient(run, client)),
  ]);
  for (const [ref, request] of requests) if (request.costMicro !== null) ended.set(ref, request);
  return {
    clients: clients.map((client, index) => ({ ...client, walletMicro: wallets[index] ?? 0n })),
    requests: new Map(requests),
    earnedMicro: earnedMicro - run.before.earnedMicro,
  };
}

async function readClient({ world }: ModelRun, { key, treasuryId }: RunClient) {
  const [balance, statement] = await Promise.all([
    world.node.look('/payments/balance', key),
    world.node.look(`/payments/treasury/${treasuryId}/statement?limit=500`, key),
  ]);
  const { available, held } = balance.body.data;
  const { entries, closingBalance }: Statement = statement.body.data;
  return {
    availableMicro: parseUsdc(available),
    heldMicro: parseUsdc(held),
    closingMicro: parseUsdc(closingBalance),
    entriesMicro: entries.reduce(
      (sum, { direction, amount }) => sum + (direction === 'credit' ? 1n : -1n) * parseUsdc(amount),
      0n,
    ),
  };
}

/** Balances of the wallets on chain, by one request. */
async function walletsOf({ world, clients }: ModelRun): Promise<bigint[]> {
  const calls = clients.map(({ wallet }): [string, ...unknown[]] => {
    const data = encodeFunctionData({ abi: usdcAbi, functionName: 'balanceOf', args: [wallet.address] });
    return ['eth_call', { to: world.chain.usdc, data }, 'latest'];
  });
  return (await callChainBatch(world.chain.rpcUrl, calls)).map((balance) => BigInt(balance as string));
}

const micro = (amount: string | null): bigint | null => (amount === null ? null : parseUsdc(amount));

async function readRequest({ world, clients, whose }: ModelRun, ref: string, id: string): Promise<SeenRequest> {
  const { key } = clients[whose.get(ref) ?? 0];
  const { status, cost, refund } = (await world.node.look(`/invoke/${id}`, key)).body.data;
  return { status, costMicro: micro(cost), refundMicro: micro(refund) };
}

/** Where what is seen is not what the model says; empty when it is. */
export function differences(model: MoneyModel, seen: Seen): string[] {
  const found: string[] = [];
  const compare = (what: string, is: bigint | string | null, should: bigint | string | null) => {
    if (is !== should) found.push(`${what} is ${shown(is)}, not ${shown(should)}`);
  };
  for (const [index, client] of model.clients.entries()) {
    const is = seen.clients[index];
    if (!is) continue;
    const postedMicro = client.availableMicro + client.heldMicro;
    compare(`client ${index}: available`, is.availableMicro, client.availableMicro);
    compare(`client ${index}: held`, is.heldMicro, client.heldMicro);
    compare(`client ${index}: closing balance`, is.closingMicro, postedMicro);
    compare(`client ${index}: sum of the statement`, is.entriesMicro, postedMicro);
    const maxMicro = client.walletMicro + client.arrivingMicro;
    if (is.walletMicro < client.walletMicro || is.walletMicro > maxMicro)
      found.push(
        `client ${index}: the wallet has ${shown(is.walletMicro)}, not ${shown(client.walletMicro)} to ${shown(maxMicro)}`,
      );
  }
  for (const [ref, request] of model.requests) {
    const is = seen.requests.get(ref);
    compare(`${ref}: status`, is?.status ?? null, request.status);
    compare(`${ref}: cost`, is?.costMicro ?? null, request.costMicro);
    const refundMicro = request.costMicro === null ? null : request.priceMicro - request.costMicro;
    compare(`${ref}: refund`, is?.refundMicro ?? null, refundMicro);
  }
  compare('requests', String([...seen.requests.keys()].sort()), String([...model.requests.keys()].sort()));
  compare('earned', seen.earnedMicro, model.earnedMicro);
  return found;
}

const shown = (value: bigint | string | null): string =>
  typeof value === 'bigint' ? formatUsdc(value) : String(value);
