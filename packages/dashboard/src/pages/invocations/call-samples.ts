import type { CodeSample } from '../../ui/values/code-block.tsx';
import { type DetailedRecord, hasAny } from './invocation.ts';

/** Within single quotes of a POSIX shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The body that asks for the same once more. */
export function bodyAgain({ task, priority, metadata, detail }: DetailedRecord) {
  return {
    task,
    ...(detail && hasAny(detail.input) ? { input: detail.input } : {}),
    ...(detail?.context ? { context: detail.context } : {}),
    ...(priority === 'normal' ? {} : { priority }),
    ...(hasAny(metadata) ? { metadata } : {}),
    ...(detail?.webhookUrl ? { webhookUrl: detail.webhookUrl } : {}),
  };
}

/** Limit of one more call: the agreed price. The cost was less where a part was not charged, and nothing where the call failed. */
export const maxCostAgain = ({ detail, cost }: DetailedRecord): string => detail?.price ?? cost ?? '';

/** Explains which content is sent again. Removed content is not, so an agent that needs it would be paid for nothing. */
export const againText = ({ contentRemovedAt }: DetailedRecord): string =>
  contentRemovedAt === undefined
    ? "With the same input, paid from the account's treasury."
    : "Its input and context have been removed since, so only the task is sent, at most its first 1,000 characters. Paid from the account's treasury.";

export interface SampledCall {
  readonly agentId: string;
  readonly body: object;
  readonly mode: 'sync' | 'async' | 'stream';
  /** Paid by wallet, and at most this much USDC; else from the treasury. */
  readonly byWallet?: {
    readonly maxPerCall: string /** Through a channel, with deposits of this. */;
    readonly deposit?: string;
  };
}

/** A curl command. If wallets pay, it returns the terms, as signing them takes more than curl. */
function curlSample({ agentId, body, mode, byWallet }: SampledCall, origin: string): string {
  const isStream = mode === 'stream';
  const headers = [
    ...(isStream ? ['Accept: text/event-stream'] : []),
    ...(mode === 'sync' ? ['X-Sync: true'] : []),
    ...(byWallet ? ['X-Payment-Method: x402'] : []),
  ];
  return [
    `curl ${isStream ? '-N ' : ''}${shellQuote(`${origin}/invoke/${agentId}`)} \\`,
    `  -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    ...headers.map((header) => `  -H '${header}' \\`),
    `  --data-raw ${shellQuote(JSON.stringify(isStream ? { ...body, stream: true } : body))}`,
    ...(byWallet
      ? ['# Responds with 402 and the payment terms: sign them and repeat with PAYMENT-SIGNATURE, as the SDK does.']
      : []),
  ].join('\n');
}

function sdkCall({ agentId, body, mode, byWallet }: SampledCall): string[] {
  const [id, text] = [JSON.stringify(agentId), JSON.stringify(body, null, 2)];
  const headers = byWallet ? `{ headers: { 'x-payment-method': 'x402' } }` : '';
  const more = headers && `, ${headers}`;
  if (mode === 'stream')
    return [
      `for await (const event of client.invokeStreaming(${id}, ${text}${more}))`,
      '  console.log(event.type, event.data);',
    ];
  if (mode === 'sync')
    return [`const record = await invokeAndWait(client, ${id}, ${text}${more});`, 'console.log(record.result);'];
  const call = `{ params: { agentId: ${id} }, body: ${text}${headers && `, ${headers.slice(2, -2)}`} }`;
  return [`const { requestId } = await client.invokeAgent(${call});`, 'console.log(requestId);'];
}

const channelOption = ({ deposit }: NonNullable<SampledCall['byWallet']>) =>
  deposit === undefined ? '' : `, channels: { deposit: ${JSON.stringify(deposit)} }`;

function sdkSample(call: SampledCall, origin: string): string {
  const { mode, byWallet } = call;
  const names = ['createClient', ...(byWallet ? ['createPayer'] : []), ...(mode === 'sync' ? ['invokeAndWait'] : [])];
  const payer =
    byWallet &&
    `createPayer({ privateKey: process.env.WALLET_PRIVATE_KEY, maxPerCall: '${byWallet.maxPerCall}'${channelOption(byWallet)} })`;
  const options = `baseUrl: ${JSON.stringify(origin)}, apiKey: process.env.AGENT_NETWORK_KEY${payer ? ', payer' : ''}`;
  return [
    `// npm install ${origin}/sdk.tgz`,
    `import { ${names.join(', ')} } from '@agent-network/sdk';`,
    '',
    ...(payer ? [`const payer = ${payer};`] : []),
    `const client = createClient({ ${options} });`,
    ...sdkCall(call),
  ].join('\n');
}

/** Samples of a call from other programs. */
export const samplesOf = (call: SampledCall, origin: string): readonly CodeSample[] => [
  { label: 'curl', code: curlSample(call, origin) },
  { label: 'SDK', code: sdkSample(call, origin) },
];

/** The call that an invocation was, to be made again from elsewhere: waits for the result, and is paid from the treasury. */
export const callSamples = (record: DetailedRecord, origin: string): readonly CodeSample[] =>
  samplesOf({ agentId: record.requestedAgentId ?? record.agentId, body: bodyAgain(record), mode: 'sync' }, origin);
