import type { Context, Hono } from 'hono';
import { commonHeaders } from '../../answer/common-headers.ts';
import { requestIdOf } from '../../mount.ts';

/**
 * MCP clients without a key that works register themselves with the node and ask it for tokens (RFC 7591, RFC 6749), also where nothing says that it
 * has OAuth. What they show of an answer is `error_description`.
 */
export function mountNoOauth(app: Hono): void {
  for (const path of ['/register', '/token']) app.post(path, refuse);
}

const description =
  'This node has no OAuth. Put an API key into the configuration of your MCP client, as the header "Authorization: Bearer ank_…"; without a key, the registry can be read and calls can be paid with x402.';

function refuse(c: Context): Response {
  const headers = { ...commonHeaders, 'content-type': 'application/json', 'cache-control': 'no-store' };
  const body = JSON.stringify({ error: 'access_denied', error_description: description });
  return new Response(body, { status: 400, headers: { ...headers, 'x-request-id': requestIdOf(c) } });
}
