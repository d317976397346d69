import type { CodeSample } from '../../ui/values/code-block.tsx';

/** The node serves the SDK as a package. */
const install = `// npm install ${location.origin}/sdk.tgz`;

const withFetch = `${install}
import { verifyWebhook } from '@agent-network/sdk';

export async function POST(request: Request): Promise<Response> {
  try {
    const event = await verifyWebhook({
      secret: process.env.WEBHOOK_SECRET ?? '',
      headers: request.headers,
      body: await request.text(), // as it came, before any JSON parser
    });
    console.log(event.id, event.type, event.data);
    return new Response(null, { status: 204 });
  } catch {
    return new Response(null, { status: 400 });
  }
}`;

const withNode = `${install}
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '@agent-network/sdk';

createServer(async (request, response) => {
  try {
    const body = await text(request); // as it came, before any JSON parser
    const secret = process.env.WEBHOOK_SECRET ?? '';
    const event = await verifyWebhook({ secret, headers: request.headers, body });
    console.log(event.id, event.type, event.data);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(3000);`;

/** Code samples that verify a delivery's signature. */
export const verificationSamples: readonly CodeSample[] = [
  { label: 'SDK, fetch handler', code: withFetch },
  { label: 'SDK, node:http', code: withNode },
];
