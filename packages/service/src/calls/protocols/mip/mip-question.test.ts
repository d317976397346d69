import { describe, expect, it } from 'vitest';
import type { Invocation } from '../../invocation.ts';
import type { GivenAnswer } from '../../turns/turn-store.ts';
import { inputFor, isAnswered, isBound, proofOf, questionOf } from './mip-question.ts';

const call = { invocation: { inputTimeoutS: 60 } as Invocation };
const jobOf = (input_schema: unknown, more: object = {}) => ({
  id: 's1',
  job_id: 'j',
  status: 'awaiting_input',
  input_schema,
  ...more,
});
const field = (type: string, more: object = {}, validations: object[] = []) => ({
  id: 'f',
  type,
  ...more,
  validations,
});
const rule = (validation: string, value: unknown) => ({ validation, value });
const values = { data: { values: ['a', 'b', 'c'] } };

it.each<[string, object, object]>([
  [
    'a text',
    field('text', { name: 'Name', data: { description: 'Yours' } }, [rule('min', '3'), rule('max', 20)]),
    { type: 'string', title: 'Name', description: 'Yours', minLength: 3, maxLength: 20 },
  ],
  ['a text that is not empty', field('textarea', {}, [rule('format', 'nonempty')]), { type: 'string', minLength: 1 }],
  ['an address', field('string', {}, [rule('format', 'url')]), { type: 'string', format: 'uri' }],
  ['an e-mail address', field('email'), { type: 'string', format: 'email' }],
  [
    'a date, whose bounds no schema has',
    field('date', {}, [rule('min', '2020-01-01')]),
    { type: 'string', format: 'date' },
  ],
  ['a number', field('number', {}, [rule('min', '1.5')]), { type: 'number', minimum: 1.5 }],
  ['a whole number', field('number', {}, [rule('format', 'integer')]), { type: 'integer' }],
  ['a range', field('range', { data: { min: '1', max: '10' } }), { type: 'number', minimum: 1, maximum: 10 }],
  ['a yes or no', field('checkbox'), { type: 'boolean' }],
  ['one of some', field('radio', values), { type: 'string', enum: ['a', 'b', 'c'] }],
  ['one option', field('option', values, [rule('max', '1')]), { type: 'string', enum: ['a', 'b', 'c'] }],
  [
    'several options',
    field('option', values, [rule('min', '1')]),
    { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1 },
  ],
  ['a file', field('file'), { type: 'string', format: 'uri' }],
  ['a type that nobody knows', field('hologram'), { type: 'string' }],
  ['bounds that are none', field('text', {}, [rule('min', 'x'), rule('max', -1)]), { type: 'string' }],
])('a field for %s is a property', (_name, given, property) => {
  const asked = questionOf(call, jobOf({ input_data: [given] }), 'j');
  expect(asked).toMatchObject({ kind: 'asks', handle: 'j', question: { message: 'The agent asks for more input.' } });
  expect(asked).toHaveProperty('question.schema', { type: 'object', properties: { f: property }, required: ['f'] });
});

const answerTo = (job: object, given: object = {}): GivenAnswer => {
  const asked = questionOf(call, { ...job }, 'j');
  if (asked.kind !== 'asks') throw new Error(JSON.stringify(asked));
  const { agentInputId } = asked.question;
  return {
    agentInputId,
    action: 'accept',
    input: {},
    note: null,
    handle: 'j',
    state: asked.state,
    ...given,
  } as GivenAnswer;
};

describe('a form', () => {
  const hidden = { id: 'h', type: 'hidden', data: { value: 'x' } };
  const shown = { id: 'n', type: 'none', data: { description: 'Read this.' } };

  it('needs no optional field, shows what is only shown, and gives hidden values back', () => {
    const job = jobOf({ input_data: [shown, hidden, field('text', {}, [rule('optional', 'true')])] });
    const asked = questionOf(call, job, 'j');
    expect(asked).toMatchObject({
      question: { message: 'Read this.', schema: { properties: { f: {} }, required: [] } },
    });
    const answer = answerTo(job, { input: { f: 'y', h: 'forged' } });
    expect(inputFor(answer, 'j')).toEqual({ job_id: 'j', status_id: 's1', input_data: { f: 'y', h: 'x' } });
  });

  it('in groups has an object for each', () => {
    const job = jobOf({
      input_groups: [
        { id: 'g', title: 'You', input_data: [field('text'), hidden] },
        { id: 'k', input_data: [field('boolean')] },
      ],
    });
    const asked = questionOf(call, job, 'j');
    expect(asked).toMatchObject({
      question: {
        message: 'You',
        schema: { required: ['g', 'k'], properties: { g: { title: 'You', required: ['f'] }, k: {} } },
      },
    });
    const answer = answerTo(job, { input: { g: { f: 'y' }, other: 1 } });
    expect(inputFor(answer, 'j')).toEqual({
      job_id: 'j',
      status_id: 's1',
      input_groups: { g: { f: 'y', h: 'x' }, k: {} },
    });
  });

  it.each<[string, object, object, string]>([
    ['for a password', jobOf({ input_data: [field('password')] }), call, 'invalid_response'],
    ['of more than 100 fields', jobOf({ input_data: Array(101).fill(field('text')) }), call, 'invalid_response'],
    ['with hidden characters', jobOf({}, { message: 'a\u202eb' }), call, 'invalid_response'],
    ['of a call that is not interactive', jobOf({}), { invocation: { inputTimeoutS: null } }, 'agent_needs_input'],
  ])('%s fails', (_name, job, asking, reason) => {
    expect(questionOf(asking as typeof call, { ...job }, 'j')).toMatchObject({ kind: 'failed', reason });
  });
});

describe('an answer', () => {
  const job = jobOf({ input_data: [field('text')] });
  it.each<[string, object, boolean]>([
    ['the same status', job, true],
    ['another status with the same form', jobOf({ input_data: [field('text')] }, { id: 's2' }), false],
    ['the same id with another form', jobOf({ input_data: [field('number')] }), false],
  ])('is for %s: %s', (_name, shown, isExpected) => {
    expect(isAnswered({ answers: [answerTo(job)] }, { ...shown })).toBe(isExpected);
  });

  it('may be sent again if it names its status, which the id of the job is not', () => {
    expect(isBound(answerTo(job))).toBe(true);
    expect(isBound(answerTo({ ...job, id: 'j', status_id: 's1' }))).toBe(true);
    for (const id of [undefined, 'j', '']) expect(isBound(answerTo(jobOf({ input_data: [] }, { id })))).toBe(false);
  });

  it('is kept with what the agent says to have got', () => {
    const reply = { input_hash: 'a8', signature: 'x'.repeat(501) };
    expect(proofOf(answerTo(job), reply)).toEqual({ statusId: 's1', isGrouped: false, hidden: {}, input_hash: 'a8' });
  });
});
