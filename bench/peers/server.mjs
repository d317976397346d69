/**
 * A resource server as the x402 packages' own guides build it: one paid route, the facilitator in the same process.
 * Usage: node server.mjs express|hono [batch-settlement]. Settings come as JSON in PEER_SETTINGS; prints its address when it listens.
 */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { x402ResourceServer } from '@x402/core/server';
import { BatchSettlementEvmScheme as BatchServer } from '@x402/evm/batch-settlement/server';
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server';
import { paymentMiddleware as expressPayments } from '@x402/express';
import { paymentMiddleware as honoPayments } from '@x402/hono';
import express from 'express';
import { Hono } from 'hono';
import { privateKeyToAccount } from 'viem/accounts';
import { inProcessFacilitator, network } from './in-process-facilitator.mjs';

const settings = JSON.parse(process.env.PEER_SETTINGS ?? '{}');
const { payToKey, price } = settings;
const [framework, scheme = 'exact'] = process.argv.slice(2);
const receiver = privateKeyToAccount(payToKey);
const payTo = receiver.address;
const routes = { 'POST /work': { accepts: { scheme, price, network, payTo }, description: 'Echo' } };
// A caller that closed its connection while its payment was settled leaves no body.
const echo = ({ task, input } = {}) => ({ result: { echo: { task, input } } });

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

const payments = new x402ResourceServer(inProcessFacilitator(settings))
  .register(network, new ExactServer())
  .register(network, new BatchServer(payTo, { receiverAuthorizerSigner: receiver }));
const server = createServer(
  { keepAliveTimeout: 65_000 },
  framework === 'hono' ? honoListener(payments) : expressListener(payments),
);
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
