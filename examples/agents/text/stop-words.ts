const words = `
a about above across after again along against all almost also although always am among an and another any are around as at
away back be became because become been before behind being below beside between beyond both but by came can cannot come could did do does
doing done down during each either else enough etc even ever every few first for from further gave get gets give given
go goes going gone got had has have having he her here hers herself him himself his how however i if in indeed instead
into is it its itself just keep kept know known last least less let like likely made make makes many may me might more
most much must my myself near nearly need neither never next no nor not nothing now of off often on once one only onto
or other others our ours ourselves out over own per perhaps put quite rather really said same saw say says see seem
seemed seems seen several shall she should since so some something soon still such take taken than that the their
theirs them themselves then there therefore these they thing things this those though through thus to together too took
toward towards two under via until up upon us use used uses using very was way we well went were what when where whether
which while who whole whom whose why will with within without would yes yet you your yours yourself yourselves
`;

/** English words that say nothing about a subject: articles, pronouns, auxiliaries, prepositions and the commonest verbs. */
const stopWords: ReadonlySet<string> = new Set(words.trim().split(/\s+/));

/** True if a lower-case word carries no subject; contractions count as their first part ("don't" as "do"). */
export function isStopWord(word: string): boolean {
  const stem = word.replace(/(n['’]t|['’](s|re|ve|ll|d|m))$/, '');
  return stopWords.has(word) || stopWords.has(stem) || (word.length === 1 && !/\d/.test(word));
}
