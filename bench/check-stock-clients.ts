/**
 * Has the stock x402 clients of both versions pay a started node, and stock x402 servers bill it as agents, as they come from npm.
 * Exits with 1 when one can't.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createPublicClient, erc20Abi, formatUnits, http } from 'viem';
import { echoed, work } from './bench-context.ts';
import { channelSettings, payByChannel } from './check-stock-channel.ts';
import { installPeers, peersFolder } from './peers.ts';
import { type ServiceUnderTest, startService } from './service-under-test.ts';
import { startStockAgent } from './stock-agent.ts';
import { type StopList, withStopList } from './stop-list.ts';

const scripts = ['x402-fetch-v1.mjs', 'x402-fetch-v2.mjs'];

interface Printed {
  readonly status: number;
  readonly answer: { readonly data: { readonly status: string; readonly cost: string; readonly paymentHash: string } };
  readonly payment: { readonly success: boolean; readonly transaction: string };
}

async function payWith(
  script: string,
  { local }: ServiceUnderTest,
  agent: { id: string; cost?: string },
): Promise<string> {
  const [wallet] = local.wallets;
  assert.ok(wallet, 'the node has a funded wallet');
  const chain = createPublicClient({ transport: http(local.chain.rpcUrl) });
  const balance = () =>
    chain.readContract({ address: local.chain.usdc, abi: erc20Abi, functionName: 'balanceOf', args: [wallet.address] });
  const before = await balance();
  const settings = {
    url: `${local.baseUrl}/invoke/${agent.id}`,
    privateKey: wallet.privateKey,
    rpcUrl: local.chain.rpcUrl,
    request: {
      method: 'POST',
      headers: { authorization: `Bearer ${local.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(work),
    },
  };
  const { stdout } = await promisify(execFile)(process.execPath, [`${peersFolder}${script}`], {
    env: { ...process.env, CLIENT_SETTINGS: JSON.stringify(settings) },
    timeout: 60_000,
  });
  const { status, answer, payment } = JSON.parse(stdout) as Printed;
  assert.equal(status, 200, stdout);
  assert.equal(answer.data.status, 'completed');
  assert.ok(stdout.includes(echoed), 'the answer holds the result');
  assert.equal(payment.success, true);
  assert.equal(payment.transaction, answer.data.paymentHash);
  assert.equal(answer.data.cost, agent.cost ?? answer.data.cost);
  const spent = async () => formatUnits(before - (await balance()), 6);
  for (let tries = 0; tries < 100 && (await spent()) !== answer.data.cost; tries++) await sleep(50);
  assert.equal(await spent(), answer.data.cost, 'exactly the cost left the wallet');
  return `${script}: paid ${answer.data.cost} USDC in ${payment.transaction} and got the result`;
}

async function check(stops: StopList): Promise<void> {
  installPeers();
  const service = await startService(stops, { isProfiled: false, env: channelSettings });
  for (const script of scripts) console.log(await payWith(script, service, { id: service.echoAgentId }));
  console.log(await payByChannel(service));
  for (const framework of ['express', 'hono'] as const) {
    const { agentId, name } = await startStockAgent(stops, service, framework);
    const paid = await payWith('x402-fetch-v2.mjs', service, { id: agentId, cost: '0.01' });
    console.log(`${name} as an agent that bills: ${paid}`);
  }
}

await withStopList(check);
