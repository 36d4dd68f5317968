/**
 * Returns style sheets without the rules that can't apply: those of Mantine's components, by their classes (`m_8bffd616`),
 * which no script names. Every rule that is parsed is matched against the page at each of its changes.
 */
export function withoutUnused(css: string, scripts: string): string {
  const used = new Set(scripts.match(CLASS) ?? [])
  return keep(
    css,
    (selector) =>
      outsideBrackets(selector)
        .match(CLASS)
        ?.every((name) => used.has(name)) ?? true,
  )
}

const CLASS = /\bm_[0-9a-f]{6,}\b/g

/** Keeps of each rule the selectors that may apply. `css` is whole and valid, as a bundler writes it. */
function keep(css: string, mayApply: (selector: string) => boolean): string {
  let kept = ''
  for (const { head, body, text } of blocksOf(css)) {
    const isGroup = /^@(?:media|supports|layer|container)\b/.test(head)
    if (body === null || (head.startsWith('@') && !isGroup)) {
      kept += text
      continue
    }
    if (isGroup) {
      const inside = keep(body, mayApply)
      if (inside !== '') kept += `${head}{${inside}}`
      continue
    }
    const selectors = split(head, ',').filter(mayApply)
    if (selectors.length > 0) kept += `${selectors.join(',')}{${body}}`
  }
  return kept
}

interface Block {
  /** A selector, or an at-rule. */
  head: string
  /** Contents of its braces; null for a statement without them. */
  body: string | null
  text: string
}

/** The rules of one level, in their order. */
function* blocksOf(css: string): Generator<Block> {
  let from = 0
  while (from < css.length) {
    const end = endOf(css, from, (letter, depth) => depth === 0 && (letter === '}' || letter === ';'))
    const text = css.slice(from, end).trim()
    from = end
    if (text === '') continue
    const brace = text.endsWith(';') ? -1 : endOf(text, 0, (letter) => letter === '{') - 1
    if (brace < 0) yield { head: text, body: null, text }
    else yield { head: text.slice(0, brace).trim(), body: text.slice(brace + 1, -1), text }
  }
}

/** Splits at characters outside brackets and strings. */
function split(text: string, at: string): string[] {
  const parts: string[] = []
  for (let from = 0; from <= text.length; ) {
    const end = endOf(text, from, (letter, depth) => depth === 0 && letter === at)
    parts.push(text.slice(from, end).replace(new RegExp(`${at}$`), ''))
    if (end === text.length) break
    from = end
  }
  return parts
}

/**
 * Returns the position after the first character that is the end, given the character and the number of open brackets;
 * the end of the text when there is none.
 */
function endOf(text: string, from: number, isEnd: (letter: string, depth: number) => boolean): number {
  let depth = 0
  let quote: string | null = null
  for (let at = from; at < text.length; at++) {
    const letter = text[at] as string
    if (letter === '\\') at++
    else if (quote !== null) quote = letter === quote ? null : quote
    else if (letter === '"' || letter === "'") quote = letter
    else {
      if ('([{'.includes(letter)) depth++
      else if (')]}'.includes(letter)) depth--
      if (isEnd(letter, depth)) return at + 1
    }
  }
  return text.length
}

/**
 * Returns a selector without the contents of brackets: `:where(.a, .b)` and `:not(.a)` require neither class to exist.
 */
function outsideBrackets(selector: string): string {
  let depth = 0
  let outside = ''
  for (const letter of selector) {
    if (letter === '(') depth++
    if (depth === 0) outside += letter
    if (letter === ')') depth--
  }
  return outside
}
