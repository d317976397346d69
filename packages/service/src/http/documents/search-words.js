/** Words that a question has and a text about its subject need not have. */
export const stopWords = new Set(
  'a about am an and any are as at be by can could do does for from get had has have how i if in into is it its just me mean my need of off on or our out own please see should so some than that the their them then there these they this to use using want was we what when where which while who why will with work would you your'.split(
    ' ',
  ),
);

/** Words that nearly every section has: they order what the other words of a question find. */
export const weakWords = ['agent', 'call', 'node', 'answer'];

/** Phrases, and the words that the documentation has for them. */
export const phrases = {
  'money back': 'refund',
  'pay back': 'refund',
  'own agent': 'first agent',
  'my agent': 'agent',
  'test money': 'add money',
  'spending limit': 'budget',
  'payment channel': 'channel',
  'without an account': 'without key',
  'follow up': 'input',
  'sign in': 'login',
  'log in': 'login',
};

/** Words that stand for each other: a question with one finds texts with the others, which count for less. */
export const synonyms = [
  ['refund', 'reimburse', 'chargeback'],
  ['treasury', 'balance', 'credit'],
  ['hold', 'held', 'reserve', 'reserved'],
  ['budget', 'limit', 'cap', 'quota'],
  ['withdraw', 'payout', 'cash'],
  ['deposit', 'fund', 'topup', 'add'],
  ['money', 'usdc', 'fund'],
  ['list', 'register', 'publish', 'sell', 'offer'],
  ['earn', 'earning', 'income', 'revenue'],
  ['price', 'cost', 'charge', 'fee', 'expensive'],
  ['retry', 'repeat', 'again', 'idempotency', 'idempotent'],
  ['receipt', 'invoice', 'proof'],
  ['reputation', 'score', 'rating', 'review'],
  ['schema', 'type', 'typed', 'declare', 'form'],
  ['find', 'search', 'discover', 'match'],
  ['install', 'package', 'version'],
  ['key', 'token', 'credential'],
  ['offline', 'down', 'unreachable', 'liveness'],
  ['stream', 'sse', 'live'],
  ['cancel', 'abort', 'stop'],
  ['cursor', 'windsurf', 'claude', 'host'],
  ['webhook', 'callback', 'notification', 'event'],
];
