import type pg from 'pg';
import { copyInto } from './copy-into.ts';

/** As `agent_bits` has them: bits to a row, and from how many ones on a row is kept unpacked. */
const BLOCK_BITS = 65_536;
const DENSE_FROM = 64;

const COPY_HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const COPY_END = Buffer.from([0xff, 0xff]);

const members = `
  select slot, is_online, is_verified, array_to_string(tsvector_to_array(terms)
           || agent_marks(is_online, is_verified, reputation, price_micro, per_hour_micro), ' ', '') as terms
    from agent_search where slot between $1 and $2`;

interface Member {
  slot: number;
  is_online: boolean;
  is_verified: boolean;
  terms: string;
}

/** Writes sets and counts of all agents anew from what `agent_search` says, as if every change had been folded into them. */
export async function seedBits(client: pg.Client): Promise<void> {
  await client.query('begin');
  await client.query('truncate agent_bits, agent_toggle, agent_count');
  const counts = new Map<string, number>();
  const { rows } = await client.query<{ last: number }>('select coalesce(max(slot), 0) as last from agent_search');
  for (let block = 0; block * BLOCK_BITS <= (rows[0]?.last ?? 0); block++) {
    const first = block * BLOCK_BITS;
    const found = await client.query<Member>(members, [first, first + BLOCK_BITS - 1]);
    const places = new Map<string, number[]>();
    for (const { slot, terms, ...states } of found.rows) {
      const state = `${states.is_online}\t${states.is_verified}`;
      for (const term of terms.split(' ')) {
        if (!term.startsWith('!')) counts.set(`${term}\t${state}`, (counts.get(`${term}\t${state}`) ?? 0) + 1);
        const known = places.get(term);
        if (known) known.push(slot - first);
        else places.set(term, [slot - first]);
      }
    }
    await copyInto(client, 'copy agent_bits from stdin (format binary)', rowsOf(block, places));
  }
  const countRows = Array.from(counts, ([of, count]) => `${of}\t${count}\ttrue\n`).join('');
  await copyInto(client, 'copy agent_count from stdin', [Buffer.from(countRows)]);
  await client.query('commit');
}

function* rowsOf(block: number, places: ReadonlyMap<string, readonly number[]>): Generator<Buffer> {
  yield COPY_HEADER;
  for (const [term, each] of places) {
    const bits = Buffer.alloc(BLOCK_BITS / 8);
    for (const place of each) bits[place >> 3] = (bits[place >> 3] ?? 0) | (128 >> (place & 7));
    const value = field(Buffer.concat([int32(BLOCK_BITS), bits]));
    const isDense = each.length >= DENSE_FROM;
    const fields = [field(Buffer.from(term)), field(int32(block)), isDense ? value : NULL, isDense ? NULL : value];
    yield Buffer.concat([Buffer.from([0, fields.length]), ...fields]);
  }
  yield COPY_END;
}

const NULL = int32(-1);
const field = (value: Buffer) => Buffer.concat([int32(value.length), value]);

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
