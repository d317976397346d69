import type { z } from 'zod';
import { CapabilityList } from '../agents/agent-search.ts';
import { endpoint } from '../endpoint.ts';
import { UsdcInput } from '../scalars.ts';
import { InvocationBody, InvocationResult, invocationErrors, invocationHeaders } from './invocations.ts';
import { foldCap } from './spending-cap.ts';
import { requireInteractive } from './turns.ts';

/** Body of POST /invoke/auto: that of an invocation, with a maximum cost and without `fallback`, which is always meant. */
export const AutoRequest = InvocationBody.omit({ fallback: true })
  .extend({
    maxCost: UsdcInput.describe('Maximum cost of this call. Agents whose price of this call is higher are not taken.'),
    capabilities: CapabilityList.optional().describe('The agent must have every one of these, and `capability` too.'),
  })
  .transform((body, problems) => ({ ...foldCap(requireInteractive(body, problems), problems), maxCost: body.maxCost }));
export type AutoRequest = z.output<typeof AutoRequest>;

export const autoEndpoints = {
  invokeAuto: endpoint({
    method: 'POST',
    path: '/invoke/auto',
    summary: 'Invoke the agent that matches a task best within a maximum cost',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'invocations',
    headers: invocationHeaders,
    body: AutoRequest,
    stream: 'on_request',
    data: InvocationResult,
    errors: [...invocationErrors, 'NO_AGENT_FITS'],
  }),
};
