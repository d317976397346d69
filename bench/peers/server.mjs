/**
 * A resource server as the x402 packages' own guides build it: one paid route, the facilitator in the same process.
 * Usage: node server.mjs express|hono. Settings come as JSON in PEER_SETTINGS; prints its address when it listens.
 */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server';
import { paymentMiddleware as expressPayments } from '@x402/express';
import { paymentMiddleware as honoPayments } from '@x402/hono';
import express from 'express';
import { Hono } from 'hono';
import { inProcessFacilitator, network } from './in-process-facilitator.mjs';

const settings = JSON.parse(process.env.PEER_SETTINGS ?? '{}');
const { payTo, price } = settings;
const routes = { 'POST /work': { accepts: { scheme: 'exact', price, network, payTo }, description: 'Echo' } };
const echo = ({ task, input }) => ({ result: { echo: { task, input } } });

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

const payments = new x402ResourceServer(inProcessFacilitator(settings)).register(network, new ExactServer());
const server = createServer(
  { keepAliveTimeout: 65_000 },
  process.argv[2] === 'hono' ? honoListener(payments) : expressListener(payments),
);
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
