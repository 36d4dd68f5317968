/**
 * Returns a style sheet without unused rules. Mantine's component rules are unused when their classes, such as
 * `m_8bffd616`, occur in no script. The browser matches every remaining rule against the page on each change.
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

/** Removes the selectors that can't apply from each rule. `css` must be complete and valid, as written by a bundler. */
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
  /** The selector or at-rule. */
  head: string
  /** The content between the braces; null for a statement without braces. */
  body: string | null
  text: string
}

/** Yields the rules at one nesting level, in order. */
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

/** Splits a string at the given character, except inside brackets and strings. */
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
 * Returns the position after the first character for which `isEnd` returns true. `isEnd` receives the character and the
 * number of open brackets. Returns the length of the string when there is no such character.
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
 * Returns a selector without the content of its brackets. `:where(.a, .b)` and `:not(.a)` can match even when these
 * classes do not exist.
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
