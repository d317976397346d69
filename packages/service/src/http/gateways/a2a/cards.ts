import { type AgentTypes, typesOfCall } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { priceText } from '@agent-network/contracts/agents/price-text';
import type { NodeIdentity } from '../../../chain/chain-info.ts';
import { NODE_VERSION } from '../../../lib/process/node-version.ts';
import { X402_EXTENSIONS } from './payments.ts';
import { INVOKE_EXTENSION } from './tasks.ts';

/** The address of an agent's gateway. */
export const a2aUrlOf = (baseUrl: string, agentId: string): string => `${baseUrl}/a2a/${agentId}`;

export const CARD_PATH = '/.well-known/agent-card.json';
export const OLD_CARD_PATH = '/.well-known/agent.json';
export const JWKS_PATH = '/.well-known/jwks.json';

const modes = ['text/plain', 'application/json'];

interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
}

interface Described {
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly version: string;
  readonly provider: { readonly organization: string; readonly url: string };
  readonly skills: readonly Skill[];
  readonly capabilities: {
    readonly streaming: boolean;
    readonly pushNotifications: boolean;
    readonly extendedAgentCard: false;
    readonly extensions?: readonly object[];
  };
}

/** A card in two parts: the fields of 1.0, and those by which clients of 0.3 recognize an agent. */
export interface CardParts {
  readonly card: object;
  readonly before: object;
}

const scheme = 'An API key or an identityToken of this node. Without one, each task is paid with x402.';

function partsOf({ url, capabilities, ...described }: Described): CardParts {
  const at = (protocolBinding: string, protocolVersion: string) => ({ url, protocolBinding, protocolVersion });
  return {
    card: {
      ...described,
      supportedInterfaces: [at('JSONRPC', '1.0'), at('HTTP+JSON', '1.0'), at('JSONRPC', '0.3')],
      capabilities,
      defaultInputModes: modes,
      defaultOutputModes: modes,
      // Without `securityRequirements`: none is required.
      securitySchemes: { apiKey: { httpAuthSecurityScheme: { scheme: 'Bearer', description: scheme } } },
    },
    before: {
      protocolVersion: '0.3.0',
      url,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [{ url, transport: 'JSONRPC' }],
      security: [{ apiKey: [] }, {}],
    },
  };
}

/** Characters of the agent's own examples up to which every skill without examples shows them. */
const MAX_REPEATED_CHARS = 4096;

const textOf = ({ description, input }: NonNullable<AgentTypes['examples']>[number]): string =>
  description ? `${description}: ${JSON.stringify(input)}` : JSON.stringify(input);

/**
 * The examples of each skill, in their order. Questions and examples of the whole agent apply to every skill without its own; long ones only
 * to the first, as the card of an agent with fifty skills would repeat them fifty times.
 */
function examplesOf(types: AgentTypes, questions: readonly string[], capabilities: readonly string[]): string[][] {
  const whole = [...questions, ...(types.examples ?? []).map(textOf)];
  const areRepeated = whole.reduce((sum, text) => sum + text.length, 0) <= MAX_REPEATED_CHARS;
  let isFirst = true;
  return capabilities.map((capability) => {
    const { examples } = typesOfCall(types, capability);
    if (examples !== types.examples) return (examples ?? []).map(textOf);
    const shown = isFirst || areRepeated ? whole : [];
    isFirst = false;
    return shown;
  });
}

/** A skill's schemas: those of the types that count for calls of its capability. */
function typedSkill(types: AgentTypes, capability: string, examples: readonly string[]): Partial<Skill> {
  const { inputSchema, outputSchema } = typesOfCall(types, capability);
  return {
    ...(examples.length > 0 ? { examples } : {}),
    ...(inputSchema ? { inputModes: ['application/json'] } : {}),
    ...(outputSchema ? { outputModes: [outputSchema.type === 'string' ? 'text/plain' : 'application/json'] } : {}),
  };
}

/** The card of an agent. It has no empty values, as verifiers treat them differently. */
export function agentCard(ctx: NodeIdentity, agent: AgentDetail & { readonly types?: AgentTypes }): CardParts {
  const { id, name, description, capabilities, rates, owner, updatedAt, types = {} } = agent;
  const price = rates.perRequest;
  const terms = { price, currency: 'USDC', network: ctx.chain.caip2 };
  const skills = capabilities.length > 0 ? capabilities : ['task'];
  const examples = examplesOf(types, agent.exampleQuestions, skills);
  return partsOf({
    name: name || id,
    description: description || `An agent that ${capabilities.join(', ') || 'takes tasks'}.`,
    url: a2aUrlOf(ctx.baseUrl, id),
    version: updatedAt,
    provider: { organization: owner, url: ctx.baseUrl },
    skills: skills.map((capability, index) => ({
      id: capability,
      name: capability,
      description: `${capability}, for ${priceText({ ...rates, metadata: agent.metadata })} a task.`,
      tags: [capability],
      ...typedSkill(types, capability, examples[index] ?? []),
    })),
    capabilities: {
      ...{ streaming: true, pushNotifications: true, extendedAgentCard: false },
      extensions: [
        ...X402_EXTENSIONS.map((uri) => ({ uri, description: 'Tasks are paid with x402 on the task.', params: terms })),
        {
          uri: INVOKE_EXTENSION,
          description:
            'Terms of a task in the metadata of its message: capability, maxCost, priority, deadline, context, quoteId.',
          // As JSON text: in a schema, what is empty has a meaning.
          ...(agent.types ? { params: { types: JSON.stringify(agent.types) } } : {}),
        },
      ],
    },
  });
}

/** The card of the node's own agent, which finds the others. */
export const nodeCard = ({ baseUrl }: NodeIdentity): CardParts =>
  partsOf({
    name: 'agent-network',
    description: 'Finds agents in this network: describe a task and get matching agents with their cards. Free.',
    url: `${baseUrl}/a2a`,
    version: NODE_VERSION,
    provider: { organization: 'agent-network', url: baseUrl },
    skills: [
      {
        id: 'find-agents',
        name: 'Find agents',
        description:
          'Text in; out come the agents that match it best, with price, reputation and the address of their card.',
        tags: ['search', 'registry'],
      },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  });
