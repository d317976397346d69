import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Task } from '../invocations/invocations.ts';
import { Duration, UsdcInput } from '../scalars.ts';
import { CapabilityList } from './agent-search.ts';
import { AgentListItem } from './agents.ts';
import { Considered, MatchParts, MatchScore } from './match-score.ts';

/** Body of POST /agents/match. */
export const MatchRequest = z.object({
  task: Task,
  maxPrice: UsdcInput.optional().describe('Maximum price per request.'),
  capabilities: CapabilityList.optional().describe(
    'Every one of these. With them, agents that share no word with the task are ranked too.',
  ),
  limit: z.int().min(1).max(20).default(5),
});
export type MatchRequest = z.output<typeof MatchRequest>;

export const matchEndpoints = {
  matchAgents: endpoint({
    method: 'POST',
    path: '/agents/match',
    summary: 'Rank online agents for a task, and explain each score in parts',
    tag: 'Agents',
    auth: 'none',
    limit: 'api',
    fromRegistry: true,
    body: MatchRequest,
    data: z.object({
      matches: z
        .array(z.object({ agent: AgentListItem, score: MatchScore, parts: MatchParts }))
        .describe('Best first. Agents that are not verified come after all that are.'),
      considered: Considered,
      words: z
        .array(z.string())
        .describe('The words of the task that decided, the rarest first; at most 32.')
        .meta({ examples: [['summarise']] }),
      ignoredWords: z
        .int()
        .min(0)
        .describe('Number of other words of the task: common English ones, and those that no agent has.')
        .meta({ examples: [2] }),
      executionTime: Duration,
    }),
    errors: [],
  }),
};
