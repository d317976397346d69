import type { CodeSample } from '../../ui/code-block.tsx';
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

/** The call that an invocation was, to be made again from elsewhere: waits for the result, and is paid from the treasury. */
export function callSamples(record: DetailedRecord, origin: string): readonly CodeSample[] {
  const body = bodyAgain(record);
  const agentId = record.requestedAgentId ?? record.agentId;
  return [
    {
      label: 'curl',
      code: [
        `curl ${shellQuote(`${origin}/invoke/${agentId}`)} \\`,
        `  -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -H 'X-Sync: true' \\`,
        `  --data-raw ${shellQuote(JSON.stringify(body))}`,
      ].join('\n'),
    },
    {
      label: 'SDK',
      code: [
        `import { createClient, invokeAndWait } from '@agent-network/sdk';`,
        '',
        `const client = createClient({ baseUrl: ${JSON.stringify(origin)}, apiKey: process.env.AGENT_NETWORK_KEY });`,
        `const record = await invokeAndWait(client, ${JSON.stringify(agentId)}, ${JSON.stringify(body, null, 2)});`,
        'console.log(record.result);',
      ].join('\n'),
    },
  ];
}
