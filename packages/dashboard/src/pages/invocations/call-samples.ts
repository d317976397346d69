import type { RequestRecord } from '@agent-network/contracts/invocations';
import type { CodeSample } from '../../ui/code-block.tsx';

/** Within single quotes of a POSIX shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The call that an invocation was, to be made again from elsewhere. Its input is not kept by the node, and so not here. */
export function callSamples(record: RequestRecord, origin: string): readonly CodeSample[] {
  const body = {
    task: record.task,
    ...(record.priority === 'normal' ? {} : { priority: record.priority }),
    ...(Object.keys(record.metadata).length > 0 ? { metadata: record.metadata } : {}),
  };
  const agentId = record.requestedAgentId ?? record.agentId;
  return [
    {
      label: 'curl',
      code: [
        `curl ${origin}/invoke/${agentId} \\`,
        `  -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d ${shellQuote(JSON.stringify(body))}`,
      ].join('\n'),
    },
    {
      label: 'SDK',
      code: [
        `import { createClient } from '@agent-network/sdk';`,
        '',
        `const client = createClient({ baseUrl: '${origin}', apiKey: process.env.AGENT_NETWORK_KEY });`,
        `const answer = await client.invokeAgent({`,
        `  params: { agentId: ${JSON.stringify(agentId)} },`,
        `  body: ${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')},`,
        `});`,
      ].join('\n'),
    },
  ];
}
