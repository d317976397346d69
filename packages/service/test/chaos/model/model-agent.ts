import { formatUsdc } from '@agent-network/contracts/money';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import type { AgentEnd } from './money-model.ts';

/** Instructions to the agent in a request's input; without an end it works until it gets one. */
export interface Orders {
  readonly end: { readonly kind: AgentEnd['kind']; readonly claim: string | null } | null;
}

export interface ModelAgent {
  readonly id: string;
  readonly priceMicro: bigint;
  /** Ends the work on a request, now and however often it is asked again. */
  tell(requestId: string, end: AgentEnd): void;
  /** The requests that it was called for since the last time it was asked. */
  takeCalled(): Set<string>;
  die(): Promise<void>;
}

export const toOrders = (end: AgentEnd | null): Orders => ({
  end: end && {
    kind: end.kind,
    claim: end.kind === 'completed' && end.claimMicro !== null ? formatUsdc(end.claimMicro) : null,
  },
});

/** An agent over real HTTP that follows the instructions in each request. */
export async function startModelAgent(
  host: Parameters<typeof startTestAgent>[0],
  options: { owner: NonNullable<Parameters<typeof startTestAgent>[1]>['owner'] & object; priceMicro: bigint },
): Promise<ModelAgent> {
  const told = new Map<string, PromiseWithResolvers<NonNullable<Orders['end']>>>();
  const wordFor = (requestId: string) => {
    const word = told.get(requestId) ?? Promise.withResolvers();
    told.set(requestId, word);
    return word;
  };
  const behaviour: Behaviour = async (request, response) => {
    const { request_id: requestId, input } = request.body;
    const { end } = input as Orders;
    await answer(end ?? (await wordFor(requestId).promise))(request, response);
  };
  const agent = await startTestAgent(host, {
    owner: options.owner,
    perRequest: formatUsdc(options.priceMicro),
    behaviour,
  });
  return {
    id: agent.id,
    priceMicro: options.priceMicro,
    tell: (requestId, end) => wordFor(requestId).resolve(toOrders(end).end as NonNullable<Orders['end']>),
    takeCalled: () => takeCalled(agent),
    die: agent.die,
  };
}

const takeCalled = ({ calls }: TestAgent): Set<string> =>
  new Set(calls.splice(0).map(({ body }) => String(body.request_id)));

const answer = ({ kind, claim }: NonNullable<Orders['end']>): Behaviour =>
  kind === 'failed'
    ? answerWith(500, { error: { message: 'It did not work.' } })
    : answerWith(200, { result: 'done', ...(claim === null ? {} : { cost: claim }) });
