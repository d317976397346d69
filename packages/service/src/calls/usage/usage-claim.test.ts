import { CallUsage, quantityPattern } from '@agent-network/contracts/invocations/usage';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimOfAgent, claimOfUpstream } from './usage-claim.ts';

/** Units in one line: "input_token 5, output_token 2". */
const lineOf = (claim: ReturnType<typeof claimOfAgent>) =>
  claim === null ? null : claim.units.map(({ unit, quantity }) => `${unit} ${quantity}`).join(', ');

describe('what upstreams say', () => {
  it.each<[string, object | null, string | null, reasoning?: number]>([
    ['OpenAI Chat', { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 }, 'input_token 9, output_token 12'],
    [
      'OpenAI Chat with details: cached within the prompt, reasoning within the completion',
      {
        ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
        prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 0, accepted_prediction_tokens: 0 },
      },
      'input_token 20, cached_input_token 80, output_token 50',
      30,
    ],
    [
      'OpenAI Responses',
      {
        ...{ input_tokens: 36, output_tokens: 87, total_tokens: 123 },
        input_tokens_details: { cached_tokens: 6 },
        output_tokens_details: { reasoning_tokens: 20 },
      },
      'input_token 30, cached_input_token 6, output_token 87',
      20,
    ],
    ['one without a total', { prompt_tokens: 9, completion_tokens: 12 }, 'input_token 9, output_token 12'],
    [
      'one with details that are null',
      { prompt_tokens: 9, completion_tokens: 12, prompt_tokens_details: null },
      'input_token 9, output_token 12',
    ],
    [
      'one whose total counts cached tokens beside the prompt',
      { prompt_tokens: 20, completion_tokens: 5, total_tokens: 105, prompt_tokens_details: { cached_tokens: 80 } },
      'input_token 20, cached_input_token 80, output_token 5',
    ],
    [
      'one with more cached tokens than a prompt, and no total',
      { prompt_tokens: 20, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 80 } },
      'input_token 20, cached_input_token 80, output_token 5',
    ],
    [
      'xAI, which counts reasoning beside the completion',
      {
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 135,
        completion_tokens_details: { reasoning_tokens: 94 },
      },
      'input_token 32, output_token 103',
      94,
    ],
    [
      'DeepSeek',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        total_tokens: 101,
        prompt_cache_hit_tokens: 64,
        prompt_cache_miss_tokens: 36,
      },
      'input_token 36, cached_input_token 64, output_token 1',
    ],
    [
      'Anthropic, which counts the cache beside the input',
      { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 90, cache_creation_input_tokens: 7 },
      'input_token 17, cached_input_token 90, output_token 5',
    ],
    [
      'OpenRouter, whose own cost is no cost here',
      { prompt_tokens: 1, completion_tokens: 2, cost: 0.5 },
      'input_token 1, output_token 2',
    ],
    ['counts as text', { prompt_tokens: '9', completion_tokens: '12' }, 'input_token 9, output_token 12'],
    ['an embedding, without a completion', { prompt_tokens: 8, total_tokens: 8 }, 'input_token 8, output_token 0'],
    ['an empty object', {}, null],
    ['null', null, null],
    ['counts below nothing', { prompt_tokens: -1, completion_tokens: -5 }, null],
    ['half a token', { prompt_tokens: 1.5, completion_tokens: 0.5 }, null],
    ['counts that no integer holds', { prompt_tokens: 1e300, completion_tokens: Number.MAX_SAFE_INTEGER }, null],
  ])('%s', (_what, usage, line, reasoning = 0) => {
    const claim = claimOfUpstream({ usage, model: 'm' });
    expect(lineOf(claim)).toBe(line);
    if (claim) expect(claim).toMatchObject({ reasoningTokens: reasoning, model: 'm', source: 'upstream' });
  });

  it('Replicate counts seconds of prediction', () =>
    expect(lineOf(claimOfUpstream({ metrics: { predict_time: 4.484541, total_time: 4.5 } }))).toBe('second 4.484541'));
});

describe('what agents claim', () => {
  const units = (...given: unknown[]) => lineOf(claimOfAgent({ units: given }));

  it.each<[string, unknown[], string | null]>([
    ['texts', [{ unit: 'page', quantity: '3' }], 'page 3'],
    ['numbers', [{ unit: 'second', quantity: 1.5 }], 'second 1.5'],
    [
      'a number with more than six decimals, rounded down',
      [{ unit: 'second', quantity: 0.1234569 }],
      'second 0.123456',
    ],
    ['less than the smallest quantity', [{ unit: 'second', quantity: 1e-9 }], 'second 0'],
    ['twelve digits', [{ unit: 'second', quantity: 123456789.123456 }], 'second 123456789.123'],
    ['a unit of its own', [{ unit: 'x-row', quantity: '12.5' }], 'x-row 12.5'],
    ['a unit that nobody knows', [{ unit: 'row', quantity: '1' }], null],
    [
      'one unit twice',
      [
        { unit: 'page', quantity: '1' },
        { unit: 'page', quantity: '2' },
      ],
      null,
    ],
    ['a quantity below nothing', [{ unit: 'page', quantity: '-1' }], null],
    ['an exponent', [{ unit: 'page', quantity: '1e6' }], null],
    ['thirteen digits', [{ unit: 'page', quantity: '1234567890.123' }], null],
    ['no number', [{ unit: 'page', quantity: Number.POSITIVE_INFINITY }], null],
    ['a good and a broken one', [{ unit: 'page', quantity: '1' }, null], null],
    ['nothing', [], null],
    ['too many', Array.from({ length: 17 }, (_, at) => ({ unit: `x-${at}`, quantity: '1' })), null],
  ])('%s', (_what, given, line) => expect(units(...given)).toBe(line));

  it('in the form of a model API is read like that of an upstream', () =>
    expect(claimOfAgent({ prompt_tokens: 9, completion_tokens: 12 })).toMatchObject({
      units: [
        { unit: 'input_token', quantity: '9' },
        { unit: 'output_token', quantity: '12' },
      ],
      source: 'agent',
    }));

  it('a broken list is not read as anything else', () =>
    expect(claimOfAgent({ units: 'many', prompt_tokens: 9, completion_tokens: 12 })).toBeNull());

  it('names a model without characters that turn or break a line', () =>
    expect(claimOfAgent({ units: [{ unit: 'page', quantity: '1' }], model: 'gpt\u202e\n\u0007x' })?.model).toBe(
      'gptx',
    ));

  it('never fails, and gives what a record may hold', () => {
    const anything = fc.oneof(
      fc.anything(),
      fc.record({
        units: fc.array(fc.record({ unit: fc.constantFrom('page', 'x-a', 'row'), quantity: fc.anything() })),
        model: fc.anything(),
      }),
      fc.record({
        prompt_tokens: fc.anything(),
        completion_tokens: fc.anything(),
        total_tokens: fc.anything(),
        completion_tokens_details: fc.anything(),
      }),
      fc.record({ units: fc.tuple(fc.record({ unit: fc.constant('page'), quantity: fc.double() })) }),
    );
    fc.assert(
      fc.property(anything, (usage) => {
        for (const claim of [claimOfAgent(usage), claimOfUpstream({ usage })]) {
          if (claim === null) continue;
          expect(claim.units.every(({ quantity }) => quantityPattern.test(quantity))).toBe(true);
          expect(CallUsage.shape.units.safeParse(claim.units).success).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
