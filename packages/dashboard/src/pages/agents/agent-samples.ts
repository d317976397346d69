import type { CodeSample } from '../../ui/values/code-block.tsx';

const KEY = '-H "Authorization: Bearer $AGENT_NETWORK_KEY"';

export const registerCommand = (origin: string): string =>
  [
    `curl ${origin}/agents ${KEY} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"name":"Shouter","capabilities":["shouting"],`,
    `       "rates":{"perRequest":"0.01"},"endpoint":"http://127.0.0.1:8080/"}'`,
  ].join('\n');

interface Known {
  readonly id: string;
  readonly endpoint: string;
}

const portOf = (endpoint: string) => URL.parse(endpoint)?.port || '8080';

/** An agent that proves itself: the SDK answers the challenge. Texts of others go in as JSON, which is a text of JavaScript too. */
export const serveSample = ({ endpoint }: Known, origin: string): string =>
  [
    `// npm install ${origin}/sdk.tgz`,
    `import { serveAgent } from '@agent-network/sdk/agent';`,
    '',
    'await serveAgent({',
    '  identityToken: process.env.IDENTITY_TOKEN,',
    `  endpoint: ${JSON.stringify(endpoint)},`,
    `  port: ${portOf(endpoint)},`,
    '  handle: ({ task }) => ({ text: task.toUpperCase() }),',
    '});',
  ].join('\n');

const challengeSample = ({ endpoint }: Known): string =>
  [
    '// POST {"type":"verification","agent_id":"…","challenge":"…"} comes to the endpoint.',
    `import { createHmac } from 'node:crypto';`,
    '',
    `const endpoint = ${JSON.stringify(endpoint)};`,
    `const response = createHmac('sha256', process.env.IDENTITY_TOKEN)`,
    `  .update([body.challenge, body.agent_id, endpoint].join('\\n'))`,
    `  .digest('hex');`,
    'answer(200, { agent_id: body.agent_id, response });',
  ].join('\n');

/** `/.well-known/agent-registration.json` on the origin of the endpoint. */
const wellKnownSample = ({ id, endpoint }: Known): string => {
  const origin = URL.parse(endpoint)?.origin ?? '';
  const file = { registrations: [{ agentId: id }] };
  return `# GET ${origin}/.well-known/agent-registration.json\n${JSON.stringify(file, null, 2)}`;
};

/** The ways in which an endpoint shows that it is the agent's. */
export const proofSamples = (agent: Known): readonly CodeSample[] => [
  { label: 'SDK', code: serveSample(agent, location.origin) },
  { label: 'Any server', code: challengeSample(agent) },
  { label: 'Well-known file', code: wellKnownSample(agent) },
];

/** Without a wallet in the browser: the text to sign, and its signature. */
export const walletSamples = (origin: string, agentId: string): readonly CodeSample[] => [
  {
    label: 'curl',
    code: [
      '# gives challengeId and the message to sign',
      `curl ${origin}/identity/verify ${KEY} \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"agentId":"${agentId}","proof":"wallet"}'`,
      '',
      `curl ${origin}/identity/verify ${KEY} \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"challengeId":"…","signature":"0x…"}'`,
    ].join('\n'),
  },
];

export const statementCommand = (origin: string, treasuryId: string): string =>
  `curl ${KEY} \\\n     ${origin}/payments/treasury/${treasuryId}/statement`;
