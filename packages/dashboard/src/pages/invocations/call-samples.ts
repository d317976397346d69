import type { RequestRecord } from '@agent-network/contracts/invocations';
import type { CodeSample } from '../../ui/code-block.tsx';

/** Within single quotes of a POSIX shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export interface SampledCall {
  readonly agentId: string;
  readonly body: object;
  readonly mode: 'sync' | 'async' | 'stream';
  /** `x402`: paid by wallet, at most `maxPerCall`. */
  readonly means?: { readonly maxPerCall: string } | undefined;
}

/** A call from a shell. One that is paid by wallet is answered with the terms: signing them takes more than curl. */
function curlSample({ agentId, body, mode, means }: SampledCall, origin: string): string {
  const isStream = mode === 'stream';
  const headers = [
    ...(isStream ? ['Accept: text/event-stream'] : []),
    ...(mode === 'sync' ? ['X-Sync: true'] : []),
    ...(means ? ['X-Payment-Method: x402'] : []),
  ];
  return [
    `curl ${isStream ? '-N ' : ''}${origin}/invoke/${encodeURIComponent(agentId)} \\`,
    `  -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    ...headers.map((header) => `  -H '${header}' \\`),
    `  -d ${shellQuote(JSON.stringify(isStream ? { ...body, stream: true } : body))}`,
    ...(means
      ? ['# Answered with 402 and the terms; sign them and repeat with PAYMENT-SIGNATURE, as the SDK does.']
      : []),
  ].join('\n');
}

function sdkSample({ agentId, body, mode, means }: SampledCall, origin: string): string {
  const id = JSON.stringify(agentId);
  const text = (indent: string) => JSON.stringify(body, null, 2).replaceAll('\n', `\n${indent}`);
  const header = mode === 'sync' ? `\n  headers: { 'x-sync': 'true' },` : '';
  const call =
    mode === 'stream'
      ? [
          `for await (const event of client.invokeStreaming(${id}, ${text('')})) {`,
          `  console.log(event.type, event.data);`,
          `}`,
        ]
      : [
          `const answer = await client.invokeAgent({`,
          `  params: { agentId: ${id} },${header}`,
          `  body: ${text('  ')},`,
          `});`,
        ];
  return [
    `import { createClient${means ? ', createPayer' : ''} } from '@agent-network/sdk';`,
    '',
    ...(means
      ? [
          `const payer = createPayer({ privateKey: process.env.WALLET_PRIVATE_KEY, maxPerCall: '${means.maxPerCall}' });`,
        ]
      : []),
    `const client = createClient({ baseUrl: '${origin}', apiKey: process.env.AGENT_NETWORK_KEY${means ? ', payer' : ''} });`,
    ...call,
  ].join('\n');
}

/** A call as others make it. */
export const samplesOf = (call: SampledCall, origin: string): readonly CodeSample[] => [
  { label: 'curl', code: curlSample(call, origin) },
  { label: 'SDK', code: sdkSample(call, origin) },
];

/** The call that an invocation was, to be made again from elsewhere. Its input is not kept by the node, and so not here. */
export function callSamples(record: RequestRecord, origin: string): readonly CodeSample[] {
  const body = {
    task: record.task,
    ...(record.priority === 'normal' ? {} : { priority: record.priority }),
    ...(Object.keys(record.metadata).length > 0 ? { metadata: record.metadata } : {}),
  };
  return samplesOf({ agentId: record.requestedAgentId ?? record.agentId, body, mode: 'async' }, origin);
}
