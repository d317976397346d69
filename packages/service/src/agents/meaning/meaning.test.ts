import { createListingIndex } from '@agent-network/search-index/create-listing-index';
import { expect, test } from 'vitest';
import { silentLog as log } from '../../lib/telemetry/log.ts';
import { createMeaning } from './meaning.ts';
import { ModelBusyError, type TextModel } from './text-model.ts';

const question = {
  wanted: { any: [], all: [], texts: [] },
  words: ['plane'],
  filter: { isOnline: [true, false], isVerified: [true, false], limits: [] },
};

let seed = 0;
function listed() {
  seed += 1;
  const index = createListingIndex(seed);
  for (const [nth, id] of ['agt_1', 'agt_2'].entries()) {
    index.put({
      ...{ id, name: id, description: '', capabilities: [], tags: [], exampleQuestions: [], home: null },
      ...{ isOnline: true, isVerified: true, reputation: 500, perRequestMicro: 1n, perHourMicro: 1n },
      ...{ responseMs: 1, createdAt: new Date(0), item: Buffer.from('{}') },
    });
    index.setVector(id, { bytes: new Uint8Array([1 + 40 * nth, 50, 0, 0]), storedMs: nth + 1 });
  }
  return { read: async <T>(ask: (of: typeof index, position: string) => T) => ask(index, '0'), labelOf: () => '' };
}

const modelOf = (ofSearch: TextModel['ofSearch'], more: Partial<TextModel> = {}): TextModel => ({
  ...{ id: 'a-model', atOnce: 1, isQuick: () => true, ofSearch, ofAgents: async () => [] },
  ...more,
});

const search = { text: 'plane', question, asOfMs: null, isPatient: false };
const patient = { ...search, isPatient: true };

test('answers with the closest and their cosines, up to the vectors of a time, and reads a text once', async () => {
  const texts: string[] = [];
  const read = async (text: string) => {
    texts.push(text);
    return Float32Array.of(0.1, 5, 0, 0);
  };
  const meaning = createMeaning({ listing: listed(), log }, modelOf(read));
  const found = await meaning.closest(patient);
  expect(found?.asOfMs).toBe(2);
  expect(found?.hits.map(({ id, cosine }) => [id, Math.round(cosine * 100)])).toEqual([
    ['agt_1', 100],
    ['agt_2', 79],
  ]);
  expect((await meaning.closest({ ...patient, asOfMs: 1 }))?.hits.map(({ id }) => id)).toEqual(['agt_1']);
  expect(texts).toEqual(['plane']);
});

test.each<[string, TextModel | null]>([
  ['off', null],
  ['unable to read the text', modelOf(async () => null)],
  ['failing', modelOf(() => Promise.reject(new Error('no')))],
  ['busy', modelOf(() => Promise.reject(new ModelBusyError('too much')))],
  ['late', modelOf(() => new Promise(() => undefined))],
  ['of another length than before', modelOf(async () => Float32Array.of(1, 2))],
])('a model that is %s leaves the search to words', async (_, model) => {
  expect(await createMeaning({ listing: listed(), log }, model).closest(search)).toBeNull();
});

test('after a failure only patient searches ask, and one that succeeds ends that', async () => {
  let isBroken = true;
  let asked = 0;
  const model = modelOf(async () => {
    asked += 1;
    if (isBroken) throw new Error('the thread has ended');
    return Float32Array.of(1, 0, 0, 0);
  });
  const meaning = createMeaning({ listing: listed(), log }, model);
  expect(await meaning.closest(search)).toBeNull();
  expect(await meaning.closest(search)).toBeNull();
  expect(asked).toBe(1);
  isBroken = false;
  expect((await meaning.closest(patient))?.hits).toHaveLength(2);
  await expect.poll(() => meaning.closest({ ...search, text: 'train' })).not.toBeNull();
  expect(asked).toBe(3);
});
