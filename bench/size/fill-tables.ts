/**
 * The rows of one call in each table, multiplied: `f` is a row of `filling`, the call that is added; `t` the row of the real call of its
 * kind, from the copy of the table in the schema `bench` that was made before the fill. Columns that are not named here are copied.
 */
export interface FilledTable {
  readonly table: string;
  /** Selects the rows that the real call has left in the table. */
  readonly from: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Rows that a node's retention would have removed long ago are not added; a few that it has yet to remove are. */
  readonly newerThanDays?: number;
}

const after = (column: string) => `f.at + (t.${column} - f.template_at)`;
const eventId = `'evt_' || f.time_text || substr(md5(t.id || f.n), 1, 16)`;
const paymentId = `'pay_' || f.time_text || substr(md5('p' || f.n), 1, 16)`;
const transactionHash = `'0x' || md5('t' || f.n) || md5('u' || f.n)`;
/** Far above those of the real calls, and below those to come: the clock of events is set ahead. */
const eventSequence = `10000000000 + f.n * 4 + row_number() over (partition by f.n order by t.sequence)`;

/** Events, chunks and keys with two days of what is due beside those that are kept. */
export const EVENT_DAYS = 32;
export const CHUNK_DAYS = 11;
export const KEY_DAYS = 1.2;

const charged = { amount_micro: 't.amount_micro' };

export const filledTables: readonly FilledTable[] = [
  {
    table: 'invocation',
    from: 't.id = f.template_id',
    columns: {
      ...{ id: 'f.request_id', account_id: 'f.account_id', agent_id: 'f.agent_id', payer_ledger_id: 'f.ledger_id' },
      ...{ created_at: 'f.at', started_at: after('started_at'), completed_at: after('completed_at') },
      ...{
        deadline: after('deadline'),
        payment_hash: `case when t.payment_hash is not null then ${transactionHash} end`,
      },
    },
  },
  {
    table: 'hold',
    from: 't.id = f.template_id',
    columns: {
      ...{ id: 'f.request_id', ledger_account_id: 'f.ledger_id', created_at: 'f.at' },
      ...{ ended_at: after('ended_at'), expires_at: after('expires_at') },
    },
  },
  {
    table: 'transfer',
    from: `t.id = 'charge:' || f.template_id`,
    columns: {
      ...charged,
      ...{ id: `'charge:' || f.request_id`, debit: 'f.ledger_id', credit: 'f.agent_ledger_id' },
      // Exactly the times of the calls: the entries of an account are numbered in their order.
      ...{ subject_id: 'f.request_id', created_at: 'f.at' },
      ...{ debit_sequence: 'f.debit_sequence', debit_balance_micro: 'f.debit_balance' },
      ...{ credit_sequence: 'f.credit_sequence', credit_balance_micro: 'f.credit_balance' },
    },
  },
  {
    table: 'transfer',
    from: `t.subject_id = f.template_id and t.kind = 'deposit'`,
    columns: {
      ...charged,
      ...{ id: `'deposit:' || ${paymentId}`, credit: 'f.ledger_id', subject_id: 'f.request_id' },
      ...{
        created_at: `f.at - interval '1 ms'`,
        credit_sequence: 'f.debit_sequence - 1',
        credit_balance_micro: 't.amount_micro',
      },
    },
  },
  {
    table: 'outcome',
    from: 't.request_id = f.template_id',
    columns: {
      ...{ request_id: 'f.request_id', account_id: 'f.account_id', agent_id: 'f.agent_id' },
      ...{ wallet: `case when t.wallet = '' then '' else f.wallet end`, ended_at: after('ended_at') },
    },
  },
  {
    table: 'chain_payment',
    from: `t.subject_id = f.template_id and t.purpose = 'invocation'`,
    columns: {
      ...{ id: paymentId, from_address: 'f.wallet', nonce: `'0x' || md5('n' || f.n) || md5('m' || f.n)` },
      ...{ subject_id: 'f.request_id', account_id: 'f.account_id', ledger_account_id: 'f.ledger_id' },
      ...{ fingerprint: 'sha256(f.request_id::bytea)', transaction_hash: transactionHash, block_hash: 'null' },
      ...{ created_at: after('created_at'), ended_at: after('ended_at') },
    },
  },
  {
    table: 'chain_transaction',
    from: `t.hash = (select p.transaction_hash from bench.chain_payment p where p.subject_id = f.template_id and p.purpose = 'invocation')`,
    columns: {
      // Of a key that the node had before, so that those of its key go on.
      ...{ hash: transactionHash, signer: `'0x00000000000000000000000000000000000f111d'`, nonce: 'f.n' },
      ...{ created_at: after('created_at'), block_hash: 'null' },
    },
  },
  {
    table: 'event',
    from: `(t.subject_id = f.template_id or t.subject_id = (
      select p.id from bench.chain_payment p where p.subject_id = f.template_id and p.purpose = 'invocation'))`,
    columns: {
      ...{ sequence: eventSequence, id: eventId, account_id: 'f.account_id', created_at: after('created_at') },
      subject_id: `case when t.subject_id = f.template_id then f.request_id else ${paymentId} end`,
    },
    newerThanDays: EVENT_DAYS,
  },
  {
    table: 'webhook_delivery',
    from: 't.event_id in (select e.id from bench.event e where e.subject_id = f.template_id)',
    columns: {
      ...{ id: `'dlv_' || f.time_text || substr(md5('d' || f.n), 1, 16)`, webhook_id: 'f.webhook_id' },
      event_id: `(select 'evt_' || f.time_text || substr(md5(e.id || f.n), 1, 16) from bench.event e where e.id = t.event_id)`,
      ...{ sequence: '10000000000 + f.n * 4 + 1', created_at: after('created_at') },
    },
    newerThanDays: EVENT_DAYS,
  },
  {
    table: 'webhook_attempt',
    from: `t.delivery_id in (select d.id from bench.webhook_delivery d join bench.event e on e.id = d.event_id where e.subject_id = f.template_id)`,
    columns: { delivery_id: `'dlv_' || f.time_text || substr(md5('d' || f.n), 1, 16)`, at: after('at') },
    newerThanDays: EVENT_DAYS,
  },
  {
    table: 'invocation_chunk',
    from: 't.invocation_id = f.template_id',
    columns: { invocation_id: 'f.request_id', created_at: after('created_at') },
    newerThanDays: CHUNK_DAYS,
  },
  {
    table: 'idempotency',
    from: `t.key = 'sample-' || f.kind`,
    columns: { account_id: 'f.account_id', key: 'md5(f.request_id)', created_at: 'f.at' },
    newerThanDays: KEY_DAYS,
  },
];
