/**
 * A resource server as the x402 packages' own guides build it: one paid route, the facilitator in the same process.
 * Usage: node server.mjs express|hono. Settings come as JSON in PEER_SETTINGS; prints its address when it listens.
 */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { x402Facilitator } from '@x402/core/facilitator';
import { x402ResourceServer } from '@x402/core/server';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator';
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server';
import { paymentMiddleware as expressPayments } from '@x402/express';
import { paymentMiddleware as honoPayments } from '@x402/hono';
import express from 'express';
import { Hono } from 'hono';
import { createWalletClient, http, nonceManager, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';

const { rpcUrl, facilitatorKey, payTo, price } = JSON.parse(process.env.PEER_SETTINGS ?? '{}');
const network = `eip155:${baseSepolia.id}`;
const routes = { 'POST /work': { accepts: { scheme: 'exact', price, network, payTo }, description: 'Echo' } };
const echo = ({ task, input }) => ({ result: { echo: { task, input } } });

/** Without the nonce manager, payments that come at the same time fail; with viem's usual polling, each waits for seconds. */
function inProcessFacilitator() {
  const account = privateKeyToAccount(facilitatorKey, { nonceManager });
  const wallet = createWalletClient({
    account,
    chain: baseSepolia,
    transport: http(rpcUrl),
    pollingInterval: 10,
  }).extend(publicActions);
  // The local chain keeps no older states: a read of `latest` fails when a block is mined meanwhile.
  const readContract = (read) => wallet.readContract({ ...read, blockTag: 'pending' });
  const signer = toFacilitatorEvmSigner({ ...wallet, readContract, address: account.address });
  const facilitator = new x402Facilitator().register(network, new ExactFacilitator(signer));
  return {
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: async () => facilitator.getSupported(),
  };
}

function expressListener(payments) {
  const app = express();
  app.use(expressPayments(routes, payments));
  app.post('/work', express.json(), (request, response) => response.json(echo(request.body)));
  return app;
}

function honoListener(payments) {
  const app = new Hono();
  app.use(honoPayments(routes, payments));
  app.post('/work', async (c) => c.json(echo(await c.req.json())));
  return getRequestListener(app.fetch);
}

const payments = new x402ResourceServer(inProcessFacilitator()).register(network, new ExactServer());
const server = createServer(
  { keepAliveTimeout: 65_000 },
  process.argv[2] === 'hono' ? honoListener(payments) : expressListener(payments),
);
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
