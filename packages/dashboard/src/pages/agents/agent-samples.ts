import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import type { CodeSample } from '../../ui/values/code-block.tsx';
import { type Known, portOf } from './registered/contract-programs.ts';

const KEY = '-H "Authorization: Bearer $AGENT_NETWORK_KEY"';

export const registerCommand = (origin: string): string =>
  [
    `curl ${origin}/agents ${KEY} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"name":"Shouter","capabilities":["shouting"],`,
    `       "rates":{"perRequest":"0.01"},"endpoint":"http://127.0.0.1:8080/"}'`,
  ].join('\n');

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
export const wellKnownSample = ({ id, endpoint }: Known): string => {
  const origin = URL.parse(endpoint)?.origin ?? '';
  const file = { registrations: [{ agentId: id }] };
  return `# GET ${origin}/.well-known/agent-registration.json\n${JSON.stringify(file, null, 2)}`;
};

/** The agent card of the endpoint itself: that of its origin or of a neighbour proves nothing. */
const cardSample = ({ id }: Known): string => {
  const extensions = [{ uri: 'urn:agent-network:agent', params: { agentId: id } }];
  return `# in the agent card of the endpoint\n${JSON.stringify({ capabilities: { extensions } }, null, 2)}`;
};

const dnsSample = ({ id, endpoint }: Known): string =>
  `_agent-network.${URL.parse(endpoint)?.hostname ?? ''}. IN TXT "agent-network-verify=${id}"`;

const tokenSample = ({ endpoint }: Known): string => {
  const { origin = '' } = URL.parse(endpoint) ?? {};
  const file = { registrations: [{ agentRegistry: 'eip155:…:0x…', agentId: 22 }] };
  return [
    '# A token that the proven owner of the agent holds. The origin of the endpoint names it:',
    `# GET ${origin}/.well-known/agent-registration.json`,
    JSON.stringify(file, null, 2),
    '# The file that the token points to lists the endpoint:',
    JSON.stringify({ services: [{ name: 'agent', endpoint }] }, null, 2),
  ].join('\n');
};

/** Addresses have no DNS records, and names without a dot are not public. */
const hasRecords = ({ endpoint }: Known): boolean => {
  const hostname = URL.parse(endpoint)?.hostname ?? '';
  return hostname.includes('.') && !/^[\d.]+$/.test(hostname);
};

/** The ways in which an endpoint of this protocol shows that it is the agent's. */
export const proofSamples = (agent: Known & { readonly protocol: AgentProtocol }): readonly CodeSample[] => [
  ...(agent.protocol === 'http'
    ? [
        { label: 'SDK', code: serveSample(agent, location.origin) },
        { label: 'Any server', code: challengeSample(agent) },
      ]
    : []),
  ...(agent.protocol === 'a2a' ? [{ label: 'Agent card', code: cardSample(agent) }] : []),
  { label: 'Well-known file', code: wellKnownSample(agent) },
  ...(hasRecords(agent) ? [{ label: 'DNS', code: dnsSample(agent) }] : []),
  { label: 'ERC-8004', code: tokenSample(agent) },
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
