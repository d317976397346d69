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

/** Texts that a newcomer could not read, by the words that were in them (docs and messages). */
const formerTexts: readonly WordRule[] = [
  { pattern: /\bstands? (in|at|under|behind) (the|a|an|its|his|their|`)/i, instead: '"is in …", "see …"' },
  { pattern: /\bas a rule\b/i, instead: 'usually' },
  { pattern: /\bin the place of\b/i, instead: 'instead of' },
  { pattern: /\bfor ever\b|\banew\b/i, instead: '"forever", "again"' },
  { pattern: /\bcomes? about\b/i, instead: '"is computed", "is made"' },
  { pattern: /\bbeside REST\b/, instead: 'besides REST' },
  { pattern: /\btakes nothing for granted\b/, instead: '"has no defaults"' },
  { pattern: /\bUSDC (came|comes|goes|went) back\b/, instead: '"… USDC was refunded"' },
  { pattern: /\basked for more, which\b/, instead: '"needs more information"' },
  { pattern: /\bis missing: send\b/, instead: '"… is required (a string such as …)"' },
  { pattern: /\bwithout a JSON result\b/, instead: '"… has no result field"' },
  { pattern: /\b[Ss]ay what the URL\b/, instead: '"Which protocol does this URL use?"' },
  { pattern: /\bsigns a text\b/, instead: '"signs in with"' },
  {
    pattern: /\b[Aa]gents of good reputation\b|\b[Aa]t most per request\b/,
    instead: '"Top-rated agents", "Max price"',
  },
  { pattern: /\b[Mm]aximum of a call\b|\bhow complex a call is\b/, instead: '"Maximum per call", "complexity"' },
  { pattern: /\bNothing is at this address\b/, instead: '"Page not found"' },
  { pattern: /\bHosts of MCP\b|\blocal comforts\b/, instead: '"MCP hosts", "local conveniences"' },
  { pattern: /\b(keeps|joins) (the|that) chain\b/, instead: '"runs the chain", "uses that chain"' },
  { pattern: /\beverybody can reach\b|\bwhoever comes back\b/, instead: '"anyone can reach", "reconnecting"' },
  { pattern: /\bcan bear\b|\bNothing leaves it\b/, instead: '"can afford", "only … is deducted"' },
];

/** Rules of messages: errors, command line, logs, pages, descriptions of the API. */
export const messageRules: readonly WordRule[] = [
  ...words,
  ...formerTexts,
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

/** Rules of documents: prose outside of code. "Nobody" is fine where a sentence states who does not. */
export const documentRules: readonly WordRule[] = [
  ...words,
  ...formerTexts,
  ...patterns.filter(({ pattern }) => !/^\^|nobody/.test(pattern.source)),
  { pattern: /[^.\s/(]\.\.(?=\s|$)/, instead: 'one full stop' },
];
