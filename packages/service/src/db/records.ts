import type { HasClock } from '../lib/clock.ts';
import type { HasDb } from './database.ts';
/** The database, and the clock that dates its rows. */
export interface Records extends HasDb, HasClock {}
