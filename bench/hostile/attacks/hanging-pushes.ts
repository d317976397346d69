import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { quantile } from '../../measure.ts';
import type { Attack } from '../attack.ts';
import { startHostileAgent } from '../hostile-agent.ts';
import { paced, type Sender } from '../send.ts';

const ACCOUNTS = 16;
/** Free calls of an account in an hour, and addresses of a task. */
const CALLS = 10;
const ADDRESSES = 5;
const TASKS_PER_SECOND = 4;
const PROBES_PER_SECOND = 4;
const QUIET_SECONDS = 15;
const LATE_MS = 60_000;

const v1 = { 'a2a-version': '1.0' };

/** Pushes of tasks to receivers that never answer, next to those of an account with a receiver that does. */
export const hangingPushes: Attack = {
  does: `${TASKS_PER_SECOND} tasks a second of ${ACCOUNTS} free accounts: ${CALLS} tasks each, ${ADDRESSES} push addresses a task, whose receiver never answers`,
  freeAccounts: ACCOUNTS,
  async run({ free, rich, seconds }, sender, begin) {
    const agent = await startHostileAgent(sender, { key: rich.apiKey, answer: (to) => void to.end('{"result":"ok"}') });
    const probe = await startProbe(sender, { agentId: agent.id, key: rich.apiKey });
    const hanging = createServer(() => undefined);
    hanging.listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const quietMs = await probe.p99Ms(QUIET_SECONDS);
    begin();
    const { port } = hanging.address() as AddressInfo;
    const sendingFor = (free.length * CALLS) / TASKS_PER_SECOND;
    const sending = paced({ perSecond: TASKS_PER_SECOND, seconds: sendingFor }, async (nth) => {
      const key = free[nth % free.length]?.apiKey ?? '';
      const { task } = await ask(sender, agent.id, key, 'SendMessage', messageOf());
      for (let at = 0; at < ADDRESSES; at++) {
        const config = { taskId: task?.id, id: `${at}`, url: `http://127.0.0.1:${port}/${at}` };
        await ask(sender, agent.id, key, 'CreateTaskPushNotificationConfig', config);
      }
    });
    const besideMs = await probe.p99Ms(seconds);
    await sending;
    for (const { stop } of [agent, probe]) stop();
    hanging.close();
    hanging.closeAllConnections();
    const figures = `${quietMs.toFixed(0)} ms alone, ${besideMs.toFixed(0)} beside it`;
    return [
      { text: `p99 of another account's pushes is under twice that alone (${figures})`, held: besideMs < 2 * quietMs },
    ];
  },
};

const messageOf = (more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] },
  configuration: { returnImmediately: true, ...more },
});

async function ask(sender: Sender, agentId: string, key: string, method: string, params: object) {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  const answer = await sender.send({ method: 'POST', path: `/a2a/${agentId}`, key, headers: v1, body });
  return answer.status === 200 ? (answer.json().result ?? {}) : {};
}

/** Measures how long the end of a task takes to reach the receiver of its pushes. */
async function startProbe(sender: Sender, { agentId, key }: { readonly agentId: string; readonly key: string }) {
  const ends = new Map<string, () => void>();
  const receiver = createServer(async (message, response) => {
    let text = '';
    for await (const part of message) text += part;
    const { task, statusUpdate } = JSON.parse(text);
    const { state } = (task ?? statusUpdate)?.status ?? {};
    if (state === 'TASK_STATE_COMPLETED') ends.get(message.url ?? '')?.();
    response.end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const measure = async (): Promise<number> => {
    const path = `/${randomUUID()}`;
    const startMs = performance.now();
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(path, resolve);
    const late = setTimeout(resolve, LATE_MS);
    const config = { taskPushNotificationConfig: { url: `http://127.0.0.1:${port}${path}` } };
    await ask(sender, agentId, key, 'SendMessage', messageOf(config));
    await promise;
    clearTimeout(late);
    ends.delete(path);
    return performance.now() - startMs;
  };
  return {
    async p99Ms(seconds: number): Promise<number> {
      const timesMs: number[] = [];
      await paced({ perSecond: PROBES_PER_SECOND, seconds }, async () => timesMs.push(await measure()));
      return quantile(
        timesMs.toSorted((a, b) => a - b),
        0.99,
      );
    },
    stop() {
      receiver.close();
      receiver.closeAllConnections();
    },
  };
}
