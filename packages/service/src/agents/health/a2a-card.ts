import { isObject, type Json, scalarText } from '../../lib/json/json-object.ts';
import { excerptOf } from '../../lib/net/error-text.ts';

export type A2aBinding = 'JSONRPC' | 'HTTP+JSON';
export type A2aVersion = '1.0' | '0.3';

/** An interface of a card that this node can speak to, if its address may be called. */
export interface A2aInterface {
  /** The URL as written in the card. */
  readonly url: string;
  readonly binding: A2aBinding;
  readonly version: A2aVersion;
  readonly tenant: string | null;
  /** The field of the card that holds the address. */
  readonly field: string;
}

interface CardInterfaces {
  /** The best first. */
  readonly found: readonly A2aInterface[];
  /** Faults of the other interfaces: field, value and remedy. */
  readonly faults: readonly string[];
}

const MAX_INTERFACES = 50;
/** The order in which interfaces are preferred: newer before older. */
const order: readonly string[] = ['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3'];

/** A value of a card for a message to the owner, quoted as untrusted data. */
export const shownValue = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(excerptOf(value.slice(0, 200))) : `a ${typeof value}`;

/** True for an object that says where an agent is, in the fields of any version. */
export const isCard = (card: Json): boolean =>
  Array.isArray(card.supportedInterfaces) || typeof card.url === 'string' || Array.isArray(card.additionalInterfaces);

/** The interfaces of a card of 1.0, 0.3 or 0.2, in any spelling. */
export function interfacesOf(card: Json): CardInterfaces {
  const read = entriesOf(card).slice(0, MAX_INTERFACES).map(readEntry);
  const found = read.filter((each) => typeof each !== 'string');
  const rank = ({ binding, version }: A2aInterface) => order.indexOf(`${binding} ${version}`);
  return {
    found: found.toSorted((a, b) => rank(a) - rank(b)),
    faults: read.filter((each) => typeof each === 'string'),
  };
}

interface Entry {
  readonly field: string;
  readonly url: unknown;
  readonly binding: unknown;
  readonly version: unknown;
  readonly tenant: unknown;
}

/** All entries of a card, starting with the fields of 1.0; omitted fields get the defaults of its version. */
function entriesOf(card: Json): Entry[] {
  const listIn = (name: 'supportedInterfaces' | 'additionalInterfaces') =>
    (Array.isArray(card[name]) ? card[name] : []).map((each, index) => ({
      field: `${name}[${index}]`,
      ...(isObject(each) ? each : {}),
    })) as (Json & { field: string })[];
  const before = { version: card.protocolVersion ?? '0.3', tenant: null };
  const main = { field: 'url', url: card.url, binding: card.preferredTransport ?? 'JSONRPC', ...before };
  return [
    ...listIn('supportedInterfaces').map(
      ({ field, url, protocolBinding, transport, protocol, protocolVersion, tenant }) => ({
        ...{ field: `${field}.url`, url, tenant },
        binding: protocolBinding ?? transport ?? protocol ?? 'JSONRPC',
        version: protocolVersion ?? '1.0',
      }),
    ),
    ...(card.url === undefined ? [] : [main]),
    ...listIn('additionalInterfaces').map(({ field, url, transport, protocolBinding }) => ({
      ...{ field: `${field}.url`, url, binding: transport ?? protocolBinding ?? 'JSONRPC' },
      ...before,
    })),
  ];
}

function readEntry({ field, url, binding: saidBinding, version: saidVersion, tenant }: Entry): A2aInterface | string {
  const siblingOf = (name: string) => (field === 'url' ? name : field.replace(/url$/, name));
  if (typeof url !== 'string' || url === '')
    return `${field} is ${shownValue(url)}: it must be the address of the interface.`;
  const binding = bindingOf(scalarText(saidBinding));
  if (!binding) {
    const name = field === 'url' ? 'preferredTransport' : siblingOf('protocolBinding');
    return `${name} is ${shownValue(saidBinding)}: this node calls JSONRPC and HTTP+JSON.`;
  }
  const version = versionOf(scalarText(saidVersion));
  if (!version) return `${siblingOf('protocolVersion')} is ${shownValue(saidVersion)}: this node speaks 1.0 and 0.3.`;
  if (binding === 'HTTP+JSON' && version === '0.3')
    return `${field} is HTTP+JSON of A2A ${version}: name an interface of JSONRPC, or HTTP+JSON of 1.0.`;
  return { url, binding, version, tenant: typeof tenant === 'string' && isTenant(tenant) ? tenant : null, field };
}

function bindingOf(said: string): A2aBinding | null {
  const letters = said.toUpperCase().replace(/[^A-Z]/g, '');
  if (letters === 'JSONRPC') return 'JSONRPC';
  return letters === 'HTTPJSON' || letters === 'REST' ? 'HTTP+JSON' : null;
}

/** Patches do not count, nor does a "v" before the number. Version 0.2 has the methods of 0.3. */
function versionOf(said: string): A2aVersion | null {
  const [, number] = /^\s*v?\s*(\d+(?:\.\d+)?)(?:\.|\s*$)/i.exec(said.slice(0, 50)) ?? [];
  if (number === '1' || number === '1.0') return '1.0';
  return number === '0.3' || number === '0.2' ? '0.3' : null;
}

const isTenant = (tenant: string): boolean => tenant !== '' && tenant.length <= 256 && tenant.isWellFormed();
