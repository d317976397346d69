import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Frees what nothing keeps: before a look at what is kept. */
export const collectGarbage = runInNewContext('gc') as () => void;
