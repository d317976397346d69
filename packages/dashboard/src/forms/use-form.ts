import type { Endpoint } from '@agent-network/contracts/endpoint';
import { type FormEvent, useState } from 'react';
import { type Problems, problemsOf, problemsToldBy } from './problems.ts';

type BodySchema = NonNullable<Endpoint['body']>;
type BodyOf<Schema extends BodySchema> = Schema['_zod']['input'];

interface FormOptions<Values extends object, Schema extends BodySchema> {
  readonly initial: Values;
  /** Schema of the contracts by which the node will judge the body. */
  readonly schema: Schema;
  /** Maps the form's values to a body of the API; default: the values. A field that is left empty should be left out. */
  readonly toBody?: (values: Values) => unknown;
  /** Finds the problems of values that no body can carry, by path: such as a text that is not JSON. */
  readonly check?: (values: Values) => Problems;
  /** Sends the body. The form shows a thrown error, at the fields that the node names. */
  readonly onSubmit: (body: BodyOf<Schema>, values: Values) => Promise<unknown>;
}

export interface Form<Values extends object> {
  readonly values: Values;
  set<Name extends keyof Values>(name: Name, value: Values[Name]): void;
  /** Starts again with these values. */
  reset(values: Values): void;
  /** Error at this path of the body: `limits.perCall`. */
  error(path: string): string | undefined;
  /** All errors by path, for a form with fields that are not known in advance. */
  readonly problems: Problems;
  /** Error that belongs to no displayed field; for `ErrorNote`. */
  readonly failure: unknown;
  readonly isBusy: boolean;
  /** For `<form onSubmit={form.submit} noValidate>`. */
  submit(event: FormEvent): void;
}

/** Puts the cursor where the first thing is wrong, once the page shows it. */
function focusFirstProblem(form: EventTarget | null): void {
  if (!(form instanceof HTMLFormElement)) return;
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}

/** A form validated here by the node's schema, and again by the node; both show errors at their fields. */
export function useForm<Values extends object, Schema extends BodySchema>(
  options: FormOptions<Values, Schema>,
): Form<Values> {
  const [values, setValues] = useState(options.initial);
  const [problems, setProblems] = useState<Problems>(new Map());
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);

  async function send(form: EventTarget | null): Promise<void> {
    const body = options.toBody ? options.toBody(values) : values;
    const found = new Map([...problemsOf(options.schema, body), ...(options.check?.(values) ?? [])]);
    setFailure(null);
    setProblems(found);
    if (found.size > 0) return focusFirstProblem(form);
    setIsBusy(true);
    try {
      await options.onSubmit(body as BodyOf<Schema>, values);
    } catch (error) {
      setFailure(error);
      setProblems(problemsToldBy(error));
      focusFirstProblem(form);
    } finally {
      setIsBusy(false);
    }
  }

  return {
    values,
    set: (name, value) => setValues((before) => ({ ...before, [name]: value })),
    reset(next) {
      setValues(next);
      setProblems(new Map());
    },
    error: (path) => problems.get(path),
    problems,
    failure,
    isBusy,
    submit(event) {
      event.preventDefault();
      if (!isBusy) void send(event.currentTarget);
    },
  };
}
