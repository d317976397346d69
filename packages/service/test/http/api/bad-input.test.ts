import { jsonSchema } from '@agent-network/contracts/openapi/json-schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentParamOf } from '../../../src/http/request/parse-request.ts';
import { day, ofTheDay } from '../../support/daily.ts';
import { badValues, closedPaths, withBadValue } from './support/bad-values.ts';
import { databaseDigest } from './support/database-digest.ts';
import { problemWithError } from './support/expect-error.ts';
import { endpoints, pathOf, validCalls } from './support/valid-calls.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let digest: Record<string, string>;
beforeAll(async () => {
  world = await startWorld();
  digest = await databaseDigest(world.h);
});
afterAll(() => world.stop());

const malformedIds = ['%00', 'agt_%00aaaaaaaaaa', '%20', 'a%20b', '%7F', '%F0%9F%92%A5', 'x'.repeat(181)];
/** Those that may be the name of an agent. */
const names = ['a%20b', '%F0%9F%92%A5'];
const unknownIds = [
  'x',
  'agt_',
  'histories',
  '%E0%A4%A',
  '%2e%2e%2fagents',
  '%3Cscript%3E',
  "'or'1'='1",
  'wallet',
  'x'.repeat(100),
];
const badQueryText = [
  '',
  ' ',
  '-1',
  '1.5',
  '1e3',
  'null',
  '%00',
  '%E0%A4%A',
  'x'.repeat(300),
  '[object Object]',
  '9'.repeat(400),
];

describe.each(endpoints)(`%s (DAY=${day})`, (name, row) => {
  // Once for each endpoint: reading the whole database takes as long as some of its tests.
  afterAll(async () => {
    const before = digest;
    digest = await databaseDigest(world.h);
    expect(digest, 'what was refused has changed the database').toEqual(before);
    expect([...world.agent.calls, ...world.strangersAgent.calls], 'what was refused has reached an agent').toEqual([]);
  });

  // Of every field some values each day.
  // The content of a file may be anything.
  const hasJson = row.body !== undefined && row.bytes === undefined;
  const bodyCases = ofTheDay(hasJson && row.body ? [...badValues(jsonSchema(row.body, 'input'))] : [], ({ path }) =>
    path.join('.'),
  );

  if (hasJson)
    it(`refuses each of ${bodyCases.length} bad bodies of the day, naming the field`, async () => {
      const { key, params, body } = validCalls[name](world);
      const wrong: unknown[] = [];
      for (const bad of bodyCases) {
        const text = withBadValue(body, bad) ?? '';
        const field = bad.path.length === 0 ? undefined : bad.path.join('.');
        const answer = await world.h.request(row.method, pathOf(row, params), { key, text });
        const problem = problemWithError(answer, 'VALIDATION_ERROR', field);
        if (problem) wrong.push({ sent: text.slice(0, 200), why: bad.why, problem });
      }
      expect(wrong).toEqual([]);
    });

  if (hasJson)
    it('refuses a field that it does not know, in every object of the body that the document closes', async () => {
      const { key, params, body } = validCalls[name](world);
      const places = row.body ? [...closedPaths(jsonSchema(row.body, 'input'), body)] : [];
      expect(places.length).toBeGreaterThan(0);
      const wrong: unknown[] = [];
      for (const place of places) {
        const path = [...place, 'zzUnknown'];
        const text = withBadValue(body, { path, value: 1, why: 'unknown' }) ?? '';
        const answer = await world.h.request(row.method, pathOf(row, params), { key, text });
        const problem = problemWithError(answer, 'VALIDATION_ERROR', path.join('.'));
        if (problem) wrong.push({ sent: text.slice(0, 200), problem });
      }
      expect(wrong).toEqual([]);
    });

  if (hasJson)
    it('refuses what is no JSON object', async () => {
      const { key, params } = validCalls[name](world);
      const texts = [
        '{',
        '}',
        '{"a":1',
        '[]',
        '[{}]',
        '"x"',
        '1',
        'null',
        'true',
        '{a:1}',
        "{'a':1}",
        '{"a":1}x',
        '\u0000',
        'NaN',
      ];
      const isOptional = row.body?.safeParse(undefined).success;
      for (const text of isOptional ? texts : [...texts, '', ' ']) {
        const answer = await world.h.request(row.method, pathOf(row, params), { key, text });
        expect({ text, problem: problemWithError(answer, 'VALIDATION_ERROR', 'body') }).toEqual({
          text,
          problem: null,
        });
      }
    });

  // Any query may come with an address that is paid by x402, as links that were shared have `utm_source`.
  it.skipIf(name === 'invokeKeyless')('refuses a query parameter that it does not know', async () => {
    const { key, params, body } = validCalls[name](world);
    for (const parameter of ['nonsense', 'Limit', '__proto__', 'constructor', 'toString', '%00'])
      for (const value of ['1', '']) {
        const answer = await world.h.request(row.method, `${pathOf(row, params)}?${parameter}=${value}`, { key, body });
        const field = decodeURIComponent(parameter);
        expect({ parameter, problem: problemWithError(answer, 'VALIDATION_ERROR', field) }).toEqual({
          parameter,
          problem: null,
        });
      }
  });

  const queryNames = Object.keys(row.query?.shape ?? {});
  const isRefusedBy = (parameter: string) => (value: string) => !row.query?.safeParse({ [parameter]: value }).success;
  if (queryNames.length > 0)
    it('refuses bad and repeated query parameters', async () => {
      const { key, params, body } = validCalls[name](world);
      const wrong: unknown[] = [];
      for (const parameter of queryNames)
        for (const value of [
          ...ofTheDay(badQueryText.filter(isRefusedBy(parameter))),
          `1&${parameter}=1`,
          `online&${parameter}=online`,
        ]) {
          const answer = await world.h.request(row.method, `${pathOf(row, params)}?${parameter}=${value}`, {
            key,
            body,
          });
          const problem = problemWithError(answer, 'VALIDATION_ERROR', parameter);
          if (problem) wrong.push({ parameter, value, problem });
        }
      expect(wrong).toEqual([]);
    });

  if (queryNames.length > 0)
    it('refuses a null character in each query parameter: PostgreSQL takes no text that holds one', async () => {
      const { key, params, body } = validCalls[name](world);
      const wrong: unknown[] = [];
      for (const parameter of queryNames) {
        const answer = await world.h.request(row.method, `${pathOf(row, params)}?${parameter}=a%00`, { key, body });
        const problem = problemWithError(answer, 'VALIDATION_ERROR', parameter);
        if (problem) wrong.push({ parameter, problem });
      }
      expect(wrong).toEqual([]);
    });

  // `Accept` may say anything, and `X-Payment-Scheme` names schemes that the node does not know.
  const headerNames = Object.keys(row.headers?.shape ?? {}).filter(
    (header) => header !== 'accept' && header !== 'x-payment-scheme' && row.bytes === undefined,
  );
  if (headerNames.length > 0)
    it('refuses headers with a value that they cannot have', async () => {
      const { key, params, body } = validCalls[name](world);
      for (const header of headerNames)
        for (const value of ofTheDay(['', 'maybe', 'TRUE', 'true, true', '-1', 'a'.repeat(16_385)])) {
          // As browsers send it for a new stream.
          if (header === 'last-event-id' && value === '') continue;
          // An empty header is no payment.
          if (/^payment-signature$|^x-payment$/.test(header) && value === '') continue;
          const answer = await world.h.request(row.method, pathOf(row, params), {
            key,
            body,
            headers: { [header]: value },
          });
          const problem = problemWithError(answer, 'VALIDATION_ERROR');
          expect({ header, value: value.slice(0, 20), problem }).toEqual({
            header,
            value: value.slice(0, 20),
            problem: null,
          });
        }
    });

  const paramNames = Object.keys(row.params?.shape ?? {});
  // The path of an upload is the hash of its content.
  if (paramNames.length > 0 && row.bytes !== 'sent')
    it('knows a malformed id from an unknown one', async () => {
      const { key, params, body } = validCalls[name](world);
      for (const param of paramNames)
        for (const id of malformedIds) {
          if (agentParamOf(row) === param && names.includes(id)) continue;
          const answer = await world.h.request(row.method, pathOf(row, { ...params, [param]: id }), { key, body });
          expect({ id, problem: problemWithError(answer, 'VALIDATION_ERROR', param) }).toEqual({ id, problem: null });
        }
      const others = Object.values(params).flatMap((id) => [
        id.slice(0, -1) + (id.endsWith('0') ? '1' : '0'),
        `${id.startsWith('req') ? 'agt' : 'req'}${id.slice(3)}`,
      ]);
      for (const other of [...unknownIds, ...others]) {
        const unknown = Object.fromEntries(paramNames.map((param) => [param, other]));
        const answer = await world.h.request(row.method, pathOf(row, unknown), { key, body });
        // An agent reports for itself only, whoever else it names.
        expect(problemWithError(answer, row.auth === 'agent' ? 'FORBIDDEN' : 'NOT_FOUND')).toBeNull();
      }
    });

  it('answers 404 in the envelope to a method or a path that does not exist', async () => {
    const { key, params, body } = validCalls[name](world);
    const path = pathOf(row, params);
    const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];
    // `/agents/search` is also a path of `/agents/{id}`.
    const taken = endpoints.filter(([, other]) =>
      new RegExp(`^${other.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
    const free = methods.filter((method) => taken.every(([, other]) => other.method !== method));
    for (const method of free) {
      const answer = await world.h.request(method, path, method === 'GET' ? { key } : { key, body });
      // Where wallets pay, their clients are told the method.
      if (row.keyless === 'pays') expect([answer.status, answer.headers.get('allow')]).toEqual([405, row.method]);
      else expect(problemWithError(answer, 'NOT_FOUND')).toBeNull();
    }
    for (const wrong of [`${path}/`, `${path}//`, `${path}/nowhere/at/all`, `/v2${path}`])
      expect(problemWithError(await world.h.request(row.method, wrong, { key, body }), 'NOT_FOUND')).toBeNull();
  });
});
