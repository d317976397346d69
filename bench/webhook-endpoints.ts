import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createClient } from '@agent-network/sdk';
import type { BenchContext } from './bench-context.ts';
import type { Arrivals, ReceiverTask } from './webhook-arrivals.ts';

export interface Receiver {
  readonly baseUrl: string;
  begin(secrets: Record<string, string>): Promise<void>;
  await(expected: number): Promise<Arrivals>;
}

const TIMEOUT_MS = 120_000;

/** Starts the process that the deliveries go to. */
export async function startReceiver({ stops }: BenchContext): Promise<Receiver> {
  const child = fork(fileURLToPath(new URL('webhook-receiver.ts', import.meta.url)), { execArgv: [] });
  const ended = once(child, 'exit');
  stops.add(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  const answerOf = async () => {
    const [answer] = await Promise.race([once(child, 'message'), ended]);
    return answer as unknown;
  };
  const ask = (task: ReceiverTask) => {
    child.send(task);
    return answerOf();
  };
  return {
    baseUrl: `http://127.0.0.1:${await answerOf()}`,
    begin: async (secrets) => void (await ask({ kind: 'begin', secrets })),
    await: async (expected) => (await ask({ kind: 'await', expected, timeoutMs: TIMEOUT_MS })) as Arrivals,
  };
}

export interface Endpoints {
  readonly secrets: Record<string, string>;
  remove(): Promise<void>;
}

/** Has the ends of all invocations sent to so many endpoints of the receiver. */
export async function addEndpoints(ctx: BenchContext, receiver: Receiver, count: number): Promise<Endpoints> {
  const client = createClient(ctx.service.local);
  const secrets: Record<string, string> = {};
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    const path = `/${count}/${nth}`;
    const made = await client.createWebhook({
      body: { url: receiver.baseUrl + path, eventTypes: ['invocation.completed'] },
    });
    secrets[path] = made.secret;
    ids.push(made.webhookId);
  }
  await receiver.begin(secrets);
  return {
    secrets,
    async remove() {
      for (const webhookId of ids) await client.deleteWebhook({ params: { webhookId } });
    },
  };
}
