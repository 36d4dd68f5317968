/** Trusted HTML, inserted without escaping. */
export class Html {
  constructor(readonly text: string) {}
}

/** Value in a template. Strings are escaped, lists are joined, null and false are omitted. */
export type Part = Html | string | number | null | false | readonly Part[]

/** Template tag for HTML. Strings are escaped for content and quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, at) => text + textOf(parts[at] ?? null)).join(''))
}

function textOf(part: Part): string {
  if (part === null || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return escapeHtml(String(part))
}

/** Escapes text for use as element content and in quoted attributes. */
export const escapeHtml = (text: string): string => Bun.escapeHTML(text)
