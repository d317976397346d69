/** Wording that `scripts/check-words.ts` counts. `instead` tells the writer what to say. */
export interface WordRule {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Most doc comments that may break a rule. Lower it when the count falls; it never rises. */
export const MAX_DOC_COMMENTS = 0;

/** Words and their replacements. */
const words: readonly WordRule[] = [
  { pattern: /\bmend(s|ed|ing)?\b/i, instead: 'fix' },
  { pattern: /\bof (yours|ours|mine)\b/i, instead: '"your …", "our …"' },
  { pattern: /\bsuch a one\b|\bno such one\b/i, instead: 'the noun' },
  { pattern: /\bbear(s)? to\b|\bborne\b/i, instead: 'afford, support' },
  { pattern: /\bat the moment\b/i, instead: 'now, temporarily' },
  { pattern: /\bthere is no such\b/i, instead: '"… not found"' },
  { pattern: /\bnot at home\b/i, instead: 'hosted by another node' },
  { pattern: /\bthe own (account|agent|key|node|wallet)\b/i, instead: '"your own …", "its own …"' },
  { pattern: /\b(updates|reloads|stops|ends) by itself\b/i, instead: 'automatically' },
  { pattern: /\bmust be [^.]*, and is\b/i, instead: '"must be … (got …)"' },
  { pattern: /\btakes? no (calls|further|more|voucher)/i, instead: '"does not accept …"' },
  { pattern: /\bnames no\b/i, instead: '"has no …", "does not name …"' },
];

/** Kinds of sentence that a reader has to solve. */
const patterns: readonly WordRule[] = [
  { pattern: /^(What|Whose|The same|As)\b(?! of$)/, instead: 'the noun first' },
  { pattern: /\bnobody\b|\bno second\b|\bno third\b/i, instead: 'who does what, without a double negation' },
  { pattern: /\b(was|were) failed\b/i, instead: '"failed"' },
  { pattern: /\b(is|are|was|were|been) (told|forgotten)\b|^Told\b/i, instead: 'who tells or deletes what' },
  { pattern: /\b(is|are) answered with\b/i, instead: '"… returns …"' },
];

/** Rules of messages: errors, command line, logs, pages, descriptions of the API. */
export const messageRules: readonly WordRule[] = [
  ...words,
  ...patterns,
  { pattern: /(?<!\bthere )\b(is|are) no (?!longer|more\b)[a-z]/i, instead: '"is not a …", "… not found"' },
  { pattern: /[^.\s/(]\.\.(?=\s|$)/, instead: 'one full stop' },
];

/** Rules of doc comments. */
export const docRules: readonly WordRule[] = [
  ...words,
  ...patterns,
  { pattern: /^(Its|In place of|Of)\b/, instead: 'the noun first' },
  { pattern: /\bwhose\b/i, instead: '"with", or a sentence of its own' },
  { pattern: /\bwhat (it|they)\b/i, instead: 'the noun' },
  { pattern: /^(Those|Who|Whoever|Whatever)\b/, instead: 'the noun first' },
  { pattern: /\btold\b|\b(holds?|held) up\b/i, instead: '"reported, sent, shown"; "delays, blocks"' },
  { pattern: /\banew\b|\bof late\b|\bforg[eo]ts?\b/i, instead: '"again", "recently", "deletes, evicts"' },
];
