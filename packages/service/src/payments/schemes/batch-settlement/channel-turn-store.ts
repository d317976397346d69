import type { Sql } from '../../../store/sql.ts';

/** A request for the turn of a channel: the right to be the next call that it admits. */
export interface TurnWish {
  readonly channelId: string;
  readonly requestId: string;
  readonly lengthMs: number;
}

/** Gives turns to requests, one per channel. Returns the channels that had a free turn. */
export async function takeTurns(sql: Sql, wishes: readonly TurnWish[]): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(
    'take-channel-turns',
    `with wish as (
       select * from unnest($1::text[], $2::text[], $3::int[]) as n(channel, request, ms)
     ), free as (
       select c.id from channel c join wish w on w.channel = c.id
        where c.turn_request is null or c.turn_until <= now() or c.turn_request = w.request order by c.id for no key update of c
     )
     update channel c set turn_request = w.request, turn_until = now() + w.ms * interval '1 ms'
       from free join wish w on w.channel = free.id where c.id = free.id returning c.id`,
    [wishes.map((w) => w.channelId), wishes.map((w) => w.requestId), wishes.map((w) => w.lengthMs)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Ends the turns of requests that still have them. */
export async function endTurns(sql: Sql, ends: readonly Omit<TurnWish, 'lengthMs'>[]): Promise<void> {
  await sql.query(
    'end-channel-turns',
    `with ended as (
       select c.id from channel c join unnest($1::text[], $2::text[]) as n(channel, request) on n.channel = c.id and n.request = c.turn_request
        order by c.id for no key update of c
     )
     update channel c set turn_request = null, turn_until = null from ended where c.id = ended.id`,
    [ends.map((e) => e.channelId), ends.map((e) => e.requestId)],
  );
}
