import { type Html, html } from '../documents/html.ts';

interface Tab {
  readonly label: string;
  readonly content: Html;
}

interface TabsOptions {
  /** Unique on the page: the start of the ids. */
  readonly id: string;
  /** Name of the choice, for screen readers. */
  readonly label: string;
  readonly isLarge?: boolean;
}

/** Parts of a page, one of which shows: a choice by radio buttons and style alone, so that it needs no script. In print all show. */
export function tabs({ id, label, isLarge = false }: TabsOptions, parts: readonly (Tab | null)[]): Html {
  const shown = parts.filter((part) => part !== null);
  return html`<fieldset class="tabs${isLarge ? ' large' : null}"><legend class="unseen">${label}</legend>${shown.map(
    (part, at) => html`
<input type="radio" name="${id}" id="${id}-${at}"${at === 0 ? html` checked` : null}><label for="${id}-${at}">${part.label}</label>
<div class="pane">${part.content}</div>`,
  )}</fieldset>`;
}
