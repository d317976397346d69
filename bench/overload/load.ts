import { requestText } from '../http-connection.ts';
import { DEADLINE, type Stream } from './open-loop.ts';
import type { BenchSite, PayingAccount } from './site.ts';

/** Requests of the load: a synchronous call paid from a treasury, and the reads beside it. */
export function createRequests({ service, echoId }: BenchSite) {
  const { baseUrl } = service.local;
  const invoke = ({ apiKey }: PayingAccount, more: object = {}) => ({
    method: 'POST',
    url: `${baseUrl}/invoke/${echoId}`,
    headers: { authorization: `Bearer ${apiKey}`, 'x-sync': 'true', 'x-payment-method': 'treasury' },
    body: { task: 'say', input: { text: 'load' }, ...more },
  });
  const get = (path: string, headers = {}) => requestText({ method: 'GET', url: baseUrl + path, headers });
  return {
    baseUrl,
    invoke,
    async invokeOnce(account: PayingAccount): Promise<string> {
      const { url, headers, body } = invoke(account);
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { data: { requestId: string } }).data.requestId;
    },
    reads: (account: PayingAccount, requestId: string): Stream[] => [
      { name: 'GET /agents/{id}', share: 0.4, text: get(`/agents/${echoId}`) },
      {
        ...{ name: 'GET /invoke/{requestId}', share: 0.4 },
        text: get(`/invoke/${requestId}`, { authorization: `Bearer ${account.apiKey}` }),
      },
      { name: 'GET /readyz', share: 0.2, text: get('/readyz') },
    ],
    /** Reads by their names in the metrics; `/readyz` is not counted there. */
    readRoutes: ['getAgent', 'getInvocation'],
    polite: (account: PayingAccount): Stream[] => [
      { name: 'other account', share: 1, text: requestText(invoke(account)) },
    ],
    flood: (account: PayingAccount): Stream[] => [
      { name: 'flood, high', share: 0.04, text: requestText(invoke(account, { priority: 'high' })) },
      { name: 'flood, normal', share: 0.66, text: requestText(invoke(account)) },
      { name: 'flood, low', share: 0.2, text: requestText(invoke(account, { priority: 'low' })) },
      {
        ...{ name: 'flood, deadline in 3 s', share: 0.1, deadlineMs: 3000 },
        text: requestText(invoke(account, { deadline: DEADLINE })),
      },
    ],
  };
}
