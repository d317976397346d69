import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeScriptOf } from './type-writer.ts';

const agent = { id: 'agt_1', name: 'Counter' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(import.meta.dirname, 'types-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the compiler says of the types followed by each of some programs; all at once, as reading the library takes it longest. */
async function problemsOfEach(types: string, programs: readonly string[]): Promise<string[][]> {
  const files = programs.map((_, nth) => join(folder, `types-${nth}.ts`));
  await Promise.all(files.map((file, nth) => writeFile(file, `${types}\n${programs[nth]}\nexport {};\n`)));
  const compiled = ts.createProgram(files, { strict: true, noEmit: true, types: [], lib: ['lib.es2022.d.ts'] });
  const found = ts.getPreEmitDiagnostics(compiled);
  const ofAll = found.filter(({ file }) => file === undefined);
  return files.map((path) =>
    [...ofAll, ...found.filter(({ file }) => file?.fileName === path)].map(({ messageText }) =>
      ts.flattenDiagnosticMessageText(messageText, ' '),
    ),
  );
}

describe('the types of an agent', () => {
  it('are what its schemas say', async () => {
    const text = typeScriptOf(agent, {
      inputSchema: {
        type: 'object',
        description: 'What to count.',
        properties: {
          text: { type: 'string', description: 'The text' },
          style: { enum: ['short', 'long', 3] },
          tree: { $ref: '#/$defs/node' },
          pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
          any: { anyOf: [{ type: 'null' }, { type: ['integer', 'boolean'] }] },
        },
        required: ['text'],
        additionalProperties: false,
        $defs: {
          node: {
            type: 'object',
            properties: { value: { const: 'leaf' }, kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
            additionalProperties: false,
          },
        },
      },
      outputSchema: { allOf: [{ type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] }] },
      capabilities: { 'count-2': { outputSchema: { type: 'integer' } } },
    });
    const good = `
      const input: Input = { text: 'a', style: 3, tree: { value: 'leaf', kids: [{ kids: [] }] }, pair: ['a', 1], any: true };
      const output: Output = { words: 1 };
      const counted: Capabilities['count-2'] = { input, output: 7 };
      export { input, output, counted };`;
    const bad = [
      `const input: Input = {};`,
      `const input: Input = { text: 'a', more: 1 };`,
      `const input: Input = { text: 'a', style: 'wide' };`,
      `const input: Input = { text: 'a', tree: { kids: [{ value: 'x' }] } };`,
      `const input: Input = { text: 'a', pair: [1, 1] };`,
      `const output: Output = {};`,
      `const count: Capabilities['count-2']['output'] = 'x';`,
    ];
    const [ofGood, ...ofBad] = await problemsOfEach(text, [good, ...bad]);
    expect(ofGood).toEqual([]);
    for (const [nth, found] of ofBad.entries()) expect(found.length, bad[nth]).toBeGreaterThan(0);
  });

  it('of a hostile agent are types and comments, and no code', async () => {
    const evil = `*/ globalThis.hacked = 1; /* \u2028 globalThis.hacked = 1; \n"'\`\${globalThis.hacked = 1}`;
    const hostile = {
      type: 'object',
      description: evil,
      properties: {
        [evil]: { type: 'string', description: evil },
        constructor: { const: evil },
        list: { enum: [evil, { [evil]: 1 }] },
        lost: { $ref: `#/$defs/${evil}` },
        far: { $ref: 'https://example.com/' },
        odd: { $ref: '#/properties/constructor%ZZ' },
        wrong: { type: evil },
        none: { type: [] },
      },
      required: [evil],
    };
    const text = typeScriptOf(
      { id: evil, name: evil },
      { inputSchema: hostile, capabilities: { [evil]: { outputSchema: hostile } } },
    );
    expect(await problemsOfEach(text, [''])).toEqual([[]]);
    expect(ts.transpile(text, { module: ts.ModuleKind.ESNext, removeComments: true }).trim()).toMatch(
      /^(export \{\};)?$/,
    );
  });

  it('of a schema that never ends stop', async () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 5000; level++) deep = { type: 'array', items: deep };
    const text = typeScriptOf(agent, { outputSchema: deep as Record<string, unknown>, inputSchema: { $ref: '#' } });
    expect(text).toContain('unknown');
    expect(text.length).toBeLessThan(5000);
  });
});
