import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('./samples/', import.meta.url);

/** Names of generated samples: too large to keep as files. */
const generated: Readonly<Record<string, () => object>> = {
  'reg-12-huge': () => ({
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name: 'Example',
    description: 'lorem ipsum '.repeat(25_000),
    image: '',
    services: Array.from({ length: 2000 }, (_, n) => ({ name: `s${n}`, endpoint: `https://example.com/${n}` })),
    active: true,
    registrations: [],
  }),
};

/** A file that somebody else's software serves, by its name in `samples/index.json` without `.json`. */
export const sampleText = (name: string): string =>
  Object.hasOwn(generated, name)
    ? JSON.stringify(generated[name]?.())
    : readFileSync(new URL(`${name}.json`, folder), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: files of every shape
export const sample = (name: string): any => JSON.parse(sampleText(name));

/** The names of all samples of a kind: card, reg, mcp, mip, x402. */
export const samplesOf = (kind: string): string[] =>
  [...readdirSync(folder).map((file) => file.replace(/\.json$/, '')), ...Object.keys(generated)]
    .filter((name) => name.startsWith(`${kind}-`))
    .sort();
