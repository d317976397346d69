import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { pageQuery, queryInteger } from '../page.ts';

// Discovery of paid resources as x402 facilitators answer it ("Bazaar"): bare JSON, so it stands outside of the endpoint table.

const resourceQuery = {
  type: z.string().max(40).optional(),
  payTo: z.string().max(100).optional(),
  scheme: z.string().max(40).optional(),
  network: z.string().max(100).optional(),
  extensions: z.string().max(200).optional(),
};

const common = {
  method: 'GET',
  tag: 'Agents',
  auth: 'none',
  limit: 'api',
  data: z.unknown(),
  errors: [],
} as const satisfies Partial<Endpoint>;

export const listResources = endpoint({
  ...common,
  path: '/discovery/resources',
  summary: 'List what can be bought here with x402',
  query: z.object({ ...resourceQuery, ...pageQuery, limit: queryInteger(1, 1000).optional() }),
});

export const searchResources = endpoint({
  ...common,
  path: '/discovery/search',
  summary: 'Search what can be bought here with x402',
  query: z.object({
    ...resourceQuery,
    query: z.string().min(1).max(500),
    limit: queryInteger(1, 100).optional(),
  }),
});
