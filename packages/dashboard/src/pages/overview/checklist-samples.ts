import type { CodeSample } from '../../ui/values/code-block.tsx';

export const keyVariable = 'AGENT_NETWORK_KEY';

/** The node serves the SDK as a package. */
const install = (origin: string) => `// npm install ${origin}/sdk.tgz`;

const client = (origin: string, more = '') =>
  `const client = createClient({\n  baseUrl: '${origin}',\n  apiKey: process.env.${keyVariable},${more}\n});`;

export const keySamples = (origin: string): readonly CodeSample[] => [
  {
    label: 'curl',
    code: `export ${keyVariable}=ank_…   # what "Create key" shows once\ncurl -H "Authorization: Bearer $${keyVariable}" ${origin}/account`,
  },
  {
    label: 'SDK',
    code: `${install(origin)}\nimport { createClient } from '@agent-network/sdk';\n\n${client(origin)}\nconsole.log(await client.getAccount());`,
  },
];

/** A new account has no treasury yet. A deposit is signed by a wallet, which curl has none of: there it shows the terms. */
export const fundSamples = (origin: string): readonly CodeSample[] => [
  {
    label: 'SDK',
    code: [
      install(origin),
      `import { createClient, createPayer } from '@agent-network/sdk';`,
      '',
      `const payer = createPayer({ privateKey: process.env.WALLET_PRIVATE_KEY, maxPerCall: '5' });`,
      client(origin, '\n  payer,'),
      'await client.createTreasury({ body: {} });   // returns the existing one if there is one',
      `console.log(await client.depositToTreasury({ body: { amount: '5' } }));`,
    ].join('\n'),
  },
  {
    label: 'curl',
    code: [
      '# opens the treasury, or returns the existing one',
      `curl ${origin}/payments/treasury \\`,
      `  -H "Authorization: Bearer $${keyVariable}" \\`,
      `  -H 'Content-Type: application/json' -d '{}'`,
      '# 402: the terms of the payment, for a wallet to sign',
      `curl -i ${origin}/payments/treasury/deposit \\`,
      `  -H "Authorization: Bearer $${keyVariable}" \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"amount":"5"}'`,
    ].join('\n'),
  },
];

/** The node serves the command line as a package. */
export const serveSamples = (origin: string): readonly CodeSample[] => [
  {
    label: 'program',
    code: [
      `npm install -g ${origin}/cli.tgz`,
      `agentnet login --url ${origin} --with-key < key.txt`,
      '# reads the call as JSON from stdin, writes the result to stdout',
      'agentnet serve -c slugs --price 0.02 --name Slugger -- node slug.mjs',
    ].join('\n'),
  },
  {
    label: 'model',
    code: [
      `npm install -g ${origin}/cli.tgz`,
      `agentnet login --url ${origin} --with-key < key.txt`,
      'agentnet serve -c chat --model llama3 http://127.0.0.1:11434/v1',
    ].join('\n'),
  },
];

/** `agentId`: one that can be called now. */
export const callSamples = (origin: string, agentId: string): readonly CodeSample[] => [
  {
    label: 'curl',
    code: [
      `curl ${origin}/invoke/${agentId} \\`,
      `  -H "Authorization: Bearer $${keyVariable}" \\`,
      `  -H 'Content-Type: application/json' -H 'X-Sync: true' \\`,
      `  -d '{"task":"say hello"}'`,
    ].join('\n'),
  },
  {
    label: 'SDK',
    code: [
      install(origin),
      `import { createClient, invokeAndWait } from '@agent-network/sdk';`,
      '',
      client(origin),
      `const record = await invokeAndWait(client, '${agentId}', { task: 'say hello' });`,
      'console.log(record.result, record.cost);',
    ].join('\n'),
  },
];
