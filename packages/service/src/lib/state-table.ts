/** A state machine as data: the next state for each state and event. `ignored`: no effect; `illegal`: never happens there. */
export type StateTable<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Record<Event, State | 'ignored' | 'illegal'>>>
>;

/** States in which an event has an effect: the expected states of a store's compare-and-set. */
export const statesThatTake = <State extends string, Event extends string>(
  table: StateTable<State, Event>,
  event: Event,
): State[] => (Object.keys(table) as State[]).filter((state) => !['ignored', 'illegal'].includes(table[state][event]));
