/** The yardstick of accepting: Hono and pg, one durable row for each request, in the database of the service. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });
await pool.query(
  'create table if not exists bench_insert (id bigint generated always as identity primary key, body text not null)',
);
const insert = { name: 'insert', text: 'insert into bench_insert (body) values ($1) returning id' };
const app = new Hono();
app.post('/', async (c) => {
  const { rows } = await pool.query({ ...insert, values: [JSON.stringify(await c.req.json())] });
  return c.json({ inserted: rows[0].id });
});
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}/`),
);
process.once('SIGTERM', () => server.close(() => process.exit(0)));
