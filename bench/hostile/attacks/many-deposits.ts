import { setTimeout as sleep } from 'node:timers/promises';
import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeFunctionData, type Hex } from 'viem';
import { sendAs } from '../../../packages/service/test/support/chain-actions.ts';
import type { Attack } from '../attack.ts';
import type { Sender } from '../send.ts';
import type { HostileAccount, Site } from '../site.ts';

/** More than a transaction of the database has sequences for events. */
const DEPOSITS = 4200;
const PAUSE_MS = 15_000;
const CREDITED_WITHIN_MS = 30_000;
const ALL_GAS = '0x1dcd6500';

/** Fills blocks with plain deposits of the smallest amount. */
export const manyDeposits: Attack = {
  does: `${DEPOSITS} plain deposits of 0.000001 by one account in one block, every ${PAUSE_MS / 1000} s`,
  async run(site, sender, begin) {
    const [flooding, depositing] = site.free;
    if (!flooding || !depositing) throw new Error('too few accounts');
    const opened = await open(sender, depositing);
    const { address: wallet } = (await open(sender, flooding)).json().data;
    const code = await callChain<Hex>(site.rpcUrl, 'eth_getCode', MULTICALL3_ADDRESS, 'latest');
    await callChain(site.rpcUrl, 'anvil_setCode', flooding.address, code);
    begin();
    const endMs = performance.now() + site.seconds * 1000;
    let sent = 0;
    for (; performance.now() < endMs; sent += DEPOSITS) {
      await flood(site, flooding, wallet);
      await sleep(Math.min(PAUSE_MS, Math.max(0, endMs - performance.now())));
    }
    await sendAs(site.rpcUrl, depositing.address, site.usdc, transferOf(wallet, 1_000_000n));
    const seconds = await secondsUntil(async () => (await availableOf(sender, depositing)) >= 1);
    const flooded = Math.round((await availableOf(sender, flooding)) * 1_000_000);
    return [
      { text: 'the treasuries were opened', held: opened.status < 300 },
      {
        text: `another account's deposit was credited (${seconds.toFixed(1)} s)`,
        held: seconds < CREDITED_WITHIN_MS / 1000,
      },
      { text: `every deposit was credited once (${flooded} of ${sent})`, held: flooded === sent },
    ];
  },
};

const open = (sender: Sender, { apiKey: key }: HostileAccount) =>
  sender.send({ method: 'POST', path: '/payments/treasury', key, body: {} });

const transferOf = (wallet: Hex, micro: bigint): Hex =>
  encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [wallet, micro] });

async function flood({ rpcUrl, usdc }: Site, { address }: HostileAccount, wallet: Hex): Promise<void> {
  const call = { target: usdc, allowFailure: false, callData: transferOf(wallet, 1n) };
  const args = [Array.from({ length: DEPOSITS }, () => call)] as const;
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args });
  await sendAs(rpcUrl, MULTICALL3_ADDRESS, address, data, ALL_GAS);
}

async function availableOf(sender: Sender, { apiKey: key }: HostileAccount): Promise<number> {
  return Number((await sender.send({ path: '/payments/balance', key })).json().data.available);
}

async function secondsUntil(isSo: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < CREDITED_WITHIN_MS && !(await isSo())) await sleep(250);
  return (performance.now() - startMs) / 1000;
}
