import type { AgentInterfaces } from './agents.ts';

/** Facts for the snippets of an agent. No free text of its owner: code is copied and run. */
export interface SnippetFacts {
  readonly agentId: string;
  /** USDC that a request costs at most. */
  readonly price: string;
  /** CAIP-2 network that the node is paid on. */
  readonly network: string;
  readonly interfaces: AgentInterfaces;
}

export interface CallSnippet {
  readonly label: string;
  readonly language: 'bash' | 'js' | 'json' | 'python';
  readonly code: string;
}

const TASK = 'Say hello.';

/** A literal that JavaScript, Python and JSON all take. */
const text = (value: unknown) => JSON.stringify(value);

/** Within single quotes of a POSIX shell. */
const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`;

const isPaid = ({ price }: SnippetFacts) => Number(price) > 0;

type Snippet = (facts: SnippetFacts) => CallSnippet | null;

const curl: Snippet = ({ interfaces, price }) => ({
  label: 'curl',
  language: 'bash',
  code: `curl ${quoted(interfaces.invoke)} \\
  -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\
  -H 'Content-Type: application/json' \\
  -H 'X-Sync: true' \\
  --data-raw ${quoted(text({ task: TASK, maxCost: price }))}`,
});

/** Free agents run for anybody. */
const curlWithoutKey: Snippet = (facts) =>
  !facts.interfaces.x402 || isPaid(facts)
    ? null
    : {
        label: 'curl, no key',
        language: 'bash',
        code: `curl ${quoted(facts.interfaces.x402)} \\
  -H 'Content-Type: application/json' \\
  -H 'X-Sync: true' \\
  --data-raw ${quoted(text({ task: TASK }))}`,
      };

const sdk: Snippet = ({ agentId, price, interfaces }) => ({
  label: 'TypeScript SDK',
  language: 'js',
  code: `// npm install ${originOf(interfaces)}/sdk.tgz
import { createClient, invokeAndWait } from '@agent-network/sdk';

const client = createClient({ baseUrl: ${text(originOf(interfaces))}, apiKey: process.env.AGENT_NETWORK_KEY });
const record = await invokeAndWait(client, ${text(agentId)}, { task: ${text(TASK)}, maxCost: ${text(price)} });
console.log(record.cost, record.result);`,
});

/** The node's address: the part before the path of the call. */
const originOf = ({ invoke }: AgentInterfaces) => invoke.slice(0, invoke.indexOf('/invoke/'));

const x402: Snippet = (facts) => {
  const { network, interfaces } = facts;
  if (!interfaces.x402 || !isPaid(facts)) return null;
  return {
    label: '@x402/fetch',
    language: 'js',
    code: `import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

// No API key: the wallet pays this call.
const wallet = privateKeyToAccount(process.env.WALLET_PRIVATE_KEY);
const fetchAndPay = wrapFetchWithPayment(fetch, new x402Client().register(${text(network)}, new ExactEvmScheme(wallet)));
const response = await fetchAndPay(${text(interfaces.x402)}, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ task: ${text(TASK)} }),
});
const { data } = await response.json();
console.log(data.cost, data.result);`,
  };
};

const mcp: Snippet = ({ agentId, interfaces }) =>
  interfaces.mcp === undefined
    ? null
    : {
        label: 'MCP host',
        language: 'json',
        code: JSON.stringify(
          {
            mcpServers: {
              [agentId]: {
                type: 'http',
                url: interfaces.mcp,
                headers: { Authorization: 'Bearer YOUR_API_KEY' },
              },
            },
          },
          null,
          2,
        ),
      };

const a2a: Snippet = ({ price, interfaces }) =>
  interfaces.a2a === undefined || interfaces.agentCard === undefined
    ? null
    : {
        label: 'A2A client',
        language: 'js',
        code: `import { Message, Task } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';

const withKey = (url, init) =>
  fetch(url, { ...init, headers: { ...init?.headers, authorization: \`Bearer \${process.env.AGENT_NETWORK_KEY}\` } });
const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl: withKey })] });
const client = await factory.createFromUrl(${text(interfaces.agentCard)}, '');
const message = Message.fromJSON({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text: ${text(TASK)} }],
  metadata: { 'urn:agent-network:invoke': { maxCost: ${text(price)} } },
});
const task = Task.toJSON(await client.sendMessage({ message }));
console.log(task.status.state, task.artifacts[0].parts);`,
      };

const openai: Snippet = ({ price, interfaces }) =>
  interfaces.openai === undefined
    ? null
    : {
        label: 'openai',
        language: 'js',
        code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${text(interfaces.openai.baseUrl)}, apiKey: process.env.AGENT_NETWORK_KEY });
const completion = await client.chat.completions.create({
  model: ${text(interfaces.openai.model)},
  messages: [{ role: 'user', content: ${text(TASK)} }],
  max_cost: ${text(price)},
});
console.log(completion.agent_network.cost, completion.choices[0].message.content);`,
      };

const vercel: Snippet = ({ interfaces }) =>
  interfaces.openai === undefined
    ? null
    : {
        label: 'Vercel AI SDK',
        language: 'js',
        code: `import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';

const agents = createOpenAI({ baseURL: ${text(interfaces.openai.baseUrl)}, apiKey: process.env.AGENT_NETWORK_KEY });
const { text } = await generateText({ model: agents.chat(${text(interfaces.openai.model)}), prompt: ${text(TASK)} });
console.log(text);`,
      };

const python: Snippet = ({ price, interfaces }) =>
  interfaces.openai === undefined
    ? null
    : {
        label: 'Python openai',
        language: 'python',
        code: `import os
from openai import OpenAI

client = OpenAI(base_url=${text(interfaces.openai.baseUrl)}, api_key=os.environ["AGENT_NETWORK_KEY"])
completion = client.chat.completions.create(
    model=${text(interfaces.openai.model)},
    messages=[{"role": "user", "content": ${text(TASK)}}],
    extra_body={"max_cost": ${text(price)}},
)
print(completion.choices[0].message.content)`,
      };

/** A call of an agent in each way that its node serves. */
export const callSnippets = (facts: SnippetFacts): readonly CallSnippet[] =>
  [curlWithoutKey, curl, sdk, x402, mcp, a2a, openai, vercel, python].flatMap((snippet) => snippet(facts) ?? []);
