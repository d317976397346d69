/** The check of a value takes more steps than it may. */
export class TooMuchWorkError extends Error {
  constructor() {
    super('checking the value takes too many steps');
  }
}

/** Maximum steps of one check, at two to four microseconds each: about 200 ms for any schema and value. */
export const MAX_STEPS = 50_000;
/** Maximum steps of a check that blocks the event loop: about 20 ms. */
export const QUICK_STEPS = 5_000;

const CHARACTERS_PER_STEP = 32;

/** Counts the steps of one check. */
export class Work {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Throws TooMuchWorkError when the steps are used up. */
  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWorkError();
  }

  chargeText(length: number, perCharacter = 1): void {
    this.charge(Math.ceil((length * perCharacter) / CHARACTERS_PER_STEP));
  }

  /** Charges a walk over a JSON value. */
  chargeValue(value: unknown): void {
    this.charge(1);
    if (typeof value === 'string') this.chargeText(value.length);
    else if (Array.isArray(value)) for (const each of value) this.chargeValue(each);
    else if (typeof value === 'object' && value !== null)
      for (const [name, each] of Object.entries(value)) {
        this.chargeText(name.length);
        this.chargeValue(each);
      }
  }
}
