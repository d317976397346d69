/**
 * A resource server as the guide of `@x402/express` has it, which gets its answers from a worker. Settings come as JSON in
 * PEER_SETTINGS; prints its address when it listens.
 */
import { createServer } from 'node:http';
import { x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware } from '@x402/express';
import express from 'express';
import { inProcessFacilitator, network } from './in-process-facilitator.mjs';

const settings = JSON.parse(process.env.PEER_SETTINGS ?? '{}');
const { payTo, price, workUrl, port } = settings;
const routes = { 'POST /work': { accepts: { scheme: 'exact', price, network, payTo }, description: 'Work' } };
const payments = new x402ResourceServer(inProcessFacilitator(settings)).register(network, new ExactEvmScheme());

const app = express();
app.use(paymentMiddleware(routes, payments));
app.post('/work', express.json(), async (request, response) => {
  const headers = { 'content-type': 'application/json' };
  const done = await fetch(workUrl, { method: 'POST', headers, body: JSON.stringify(request.body) });
  response.status(done.status).json(await done.json());
});
createServer({ keepAliveTimeout: 65_000 }, app).listen(port, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${port}`),
);
