import { expect, it } from 'vitest';
import { schemaDigest } from './schema-digest.ts';

it('the digest of a schema is the one that earlier versions stored', () => {
  const properties = { '10': { type: 'string' }, '9': { type: 'number', description: 'd' }, Ab: {} };
  const more = { title: { enum: [1e21, -0, 'é'] }, aB: { default: 1, items: [{ b: 1, a: null }] } };
  const schema = { type: 'object', title: 'x', properties: { ...properties, ...more } };
  expect(schemaDigest('sort', schema, undefined)).toBe(
    '738bd01b1d97f2bc8e6585e995c5fcbdcf3c5d6148fc64ecfab152c137d37f46',
  );
});
