import { errorRemedies, failureRemedies } from '@agent-network/contracts/error-remedies';
import { type ErrorCode, errorCatalogue } from '@agent-network/contracts/errors';
import type { ApiDocument, Schema } from './document.ts';
import { codeBlock, type Html, html, inline } from './html.ts';

interface ErrorShape {
  readonly properties?: { readonly error?: { readonly properties?: { readonly code?: { readonly const?: string } } } };
}

/** The code of an error's envelope; undefined for other objects. */
export const codeOf = (schema: Schema): string | undefined =>
  (schema as ErrorShape).properties?.error?.properties?.code?.const;

/** Renders every error of the catalogue, with its cause, its remedy and an example. */
export function errorSection({ components }: ApiDocument): Html {
  const entries = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { status, when } = errorCatalogue[code];
    const schema = Object.values(components.schemas).find((each) => codeOf(each) === code);
    const example = (schema?.examples as unknown[] | undefined)?.[0];
    return html`<section class="error" id="error-${code}"><h3><span class="status">${status}</span> <code>${code}</code></h3>
<p>${inline(when)}</p><p><strong>What to do.</strong> ${inline(errorRemedies[code])}</p>
<details><summary>Example</summary>${codeBlock(JSON.stringify(example, null, 2))}</details></section>`;
  });
  const failures = Object.entries(failureRemedies).map(
    ([reason, remedy]) =>
      html`<tr id="failure-${reason}"><th scope="row"><code>${reason}</code></th><td>${inline(remedy)}</td></tr>`,
  );
  return html`<section id="errors"><h2>Errors of calls</h2>
<p>The status says what kind of trouble it is, <code>error.code</code> which one. Codes do not change; messages are for people. <code>error.requestId</code> is the one to tell the node's operator.</p>${entries}</section>
<section id="failures"><h2>Failures of requests</h2>
<p>A call that was accepted can fail later. Then <code>status</code> of its request is <code>failed</code>, <code>error.code</code> is one of these, and <code>refund</code> is what goes back: all that was paid, as a rule.</p>
<div class="scroll" tabindex="0"><table class="plain"><thead><tr><th scope="col">Code</th><th scope="col">What happened, and what to do</th></tr></thead><tbody>${failures}</tbody></table></div></section>`;
}
