import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Till } from '../../support/billing-agent.ts';
import type { TestAccount } from '../../support/harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { createRandom } from './random.ts';

export interface BankAgent extends TestAgent {
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
  /** The requests that the agent saw for each purchase, by the mark that the client put into its metadata. */
  readonly keysOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** Marks of calls that came again with other answers under the same key. */
  readonly alteredAnswers: ReadonlySet<string>;
}

const FATES = {
  'answers at once': 60,
  'answers late': 14,
  'breaks off, then answers': 5,
  'is busy, then answers': 4,
  'always breaks off': 3,
  'answers 500': 5,
  'refuses with 400': 4,
  'answers nonsense': 3,
  'never answers': 4,
} as const;

/** A task that is always answered at once, so that it waits only for the node. */
export const PROBE = 'probe';

/** Bill below the registered price: the rest goes back to the payer. */
export const BILL_MICRO = 6000n;

const question = answerWith(200, { status: 'input_required', input: { message: 'Which mark?' } });

const ok = (mark: string) => answerWith(200, { result: { mark } });

/** Decides a call by its mark, for any number of attempts and processes, like an agent that stores its keys. */
async function treat(
  fate: keyof typeof FATES,
  call: { mark: string; isFirst: boolean; lateMs: number },
  answer: (behaviour: Behaviour) => void,
  response: ServerResponse,
): Promise<void> {
  switch (fate) {
    case 'answers at once':
      return answer(ok(call.mark));
    case 'answers late':
      await sleep(call.lateMs, undefined, { ref: false });
      return answer(ok(call.mark));
    case 'breaks off, then answers':
      return call.isFirst ? void response.destroy() : answer(ok(call.mark));
    case 'is busy, then answers':
      return answer(call.isFirst ? answerWith(503, { error: 'busy' }) : ok(call.mark));
    case 'always breaks off':
      return void response.destroy();
    case 'answers 500':
      return answer(answerWith(500, { error: { message: 'no' } }));
    case 'refuses with 400':
      return answer(answerWith(400, { error: { message: 'no' } }));
    case 'answers nonsense':
      return answer(answerWith(200, '<html>'));
    case 'never answers':
  }
}

const COLLECTS = { first: 6, last: 2, never: 2 } as const;

interface BankAgentOptions {
  readonly owner: TestAccount;
  readonly seed: string;
  readonly perRequest: string;
  /** Where it is paid, if it bills directly. */
  readonly till?: Till | undefined;
}

/** An agent of every kind of luck, which does one work per Idempotency-Key and gives that work's answer again. */
export async function startBankAgent(
  host: Parameters<typeof startTestAgent>[0],
  { owner, seed, perRequest, till }: BankAgentOptions,
): Promise<BankAgent> {
  const keysOf = new Map<string, Set<string>>();
  const answersOf = new Map<string, string>();
  const alteredAnswers = new Set<string>();
  const seen = new Set<string>();
  const running = new Set<Promise<void>>();
  const work: Behaviour = (request, response) => {
    const key = String(request.headers['idempotency-key']);
    const { mark, asks } = request.body.metadata;
    if (asks && !request.body.answers) return question(request, response);
    const random = createRandom(seed, mark, request.body.agent_id);
    const call = { mark, isFirst: !seen.has(key), lateMs: random.int(50, 2000) };
    seen.add(key);
    const answer = (how: Behaviour) => void how(request, response);
    const fate = request.body.task === PROBE ? 'answers at once' : random.weighted(FATES);
    return treat(fate, call, answer, response);
  };
  const behaviour: Behaviour = (request, response) => {
    const mark = String(request.body.metadata.mark);
    const keys = keysOf.get(mark) ?? new Set();
    const key = String(request.headers['idempotency-key']);
    // Each turn has a key: that of the request, with its number from the second on.
    keysOf.set(mark, keys.add(key.replace(/:\d+$/, '')));
    const answers = JSON.stringify(request.body.answers ?? []);
    if ((answersOf.get(key) ?? answers) !== answers) alteredAnswers.add(mark);
    answersOf.set(key, answers);
    const random = createRandom(seed, mark, 'till');
    const billing = { amountMicro: BILL_MICRO, collects: random.weighted(COLLECTS), work } as const;
    const version = random.chance(0.5) ? 1 : 2;
    const done = Promise.resolve((till ? till.bill({ ...billing, version }) : work)(request, response));
    const ended = done.finally(() => running.delete(ended));
    running.add(ended);
    return ended;
  };
  const agent = await startTestAgent(host, { owner, perRequest, behaviour });
  return { ...agent, keysOf, alteredAnswers, idle: async () => void (await Promise.all(running)) };
}
