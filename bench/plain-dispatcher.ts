/** The yardstick of deliveries: signs and posts with fetch in a loop, and keeps no record. Settings as JSON in PLAIN_DISPATCHER; prints its time. */
import { createHmac } from 'node:crypto';

export interface PlainDispatcherSettings {
  /** One loop for each, which waits for every answer. */
  readonly urls: readonly string[];
  readonly secret: string;
  readonly deliveriesEach: number;
  readonly body: string;
}

const { urls, secret, deliveriesEach, body } = JSON.parse(
  process.env.PLAIN_DISPATCHER ?? '{}',
) as PlainDispatcherSettings;
const key = Buffer.from(secret.slice('whsec_'.length), 'base64');

async function deliver(url: string, id: string): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const answer = await fetch(url, { method: 'POST', headers, body });
  await answer.arrayBuffer();
}

const startMs = performance.now();
await Promise.all(
  urls.map(async (url) => {
    for (let nth = 0; nth < deliveriesEach; nth++) await deliver(url, `evt_${nth}`);
  }),
);
console.log(`took ${performance.now() - startMs}`);
