import type { Attack } from '../attack.ts';
import { accounts } from './accounts.ts';
import { chainReaders } from './chain-readers.ts';
import { challenges } from './challenges.ts';
import { documents } from './documents.ts';
import { fillDisk } from './fill-disk.ts';
import { gas } from './gas.ts';
import { hangingAgent } from './hanging-agent.ts';
import { hangingPushes } from './hanging-pushes.ts';
import { idleConnections } from './idle-connections.ts';
import { largeEnvelopes } from './large-envelopes.ts';
import { lockedAccount } from './locked-account.ts';
import { manyDeposits } from './many-deposits.ts';
import { patternBombs } from './pattern-bombs.ts';

import { silentNames } from './silent-names.ts';
import { slowReaders } from './slow-readers.ts';
import { vanishedStreams } from './vanished-streams.ts';
import { visitors } from './visitors.ts';

/** In the order in which they are carried out; the sign-ins of one address are used up by the first that takes them. */
export const attacks: Readonly<Record<string, Attack>> = {
  'idle-connections': idleConnections,
  'slow-readers': slowReaders,
  'vanished-streams': vanishedStreams,
  'silent-names': silentNames,
  documents,
  challenges,
  accounts,
  gas,
  'many-deposits': manyDeposits,
  'fill-disk': fillDisk,
  'hanging-agent': hangingAgent,
  'hanging-pushes': hangingPushes,
  'locked-account': lockedAccount,
  'pattern-bombs': patternBombs,
  'large-envelopes': largeEnvelopes,
  visitors,
  'chain-readers': chainReaders,
};
