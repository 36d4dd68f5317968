/** Maximum nesting depth of a value. */
const MAX_DEPTH = 20
const WORDS: Record<string, unknown> = { t: true, f: false, n: null }

/**
 * Parses a value in Rison, a compact form of JSON for URLs: `!((cl:PageView,type:Product),'it!'s')`. Null when the text
 * is not Rison or has more than 20 levels. https://github.com/Nanonid/rison
 */
export function readRison(text: string): unknown {
  const reader = new Reader(text)
  const value = reader.value(MAX_DEPTH)
  return reader.isWhole ? value : null
}

class Reader {
  #at = 0
  #isBroken = false

  constructor(private readonly text: string) {}

  /** True when the text consisted of a single value and nothing else. */
  get isWhole(): boolean {
    return !this.#isBroken && this.#at === this.text.length
  }

  value(depth: number): unknown {
    if (depth === 0) return this.#broken()
    const first = this.text[this.#at]
    if (first === '(') return this.#object(depth)
    if (first === "'") return this.#quoted()
    if (first !== '!') return this.#plain()
    const next = this.text[this.#at + 1] ?? ''
    this.#at += 2
    if (next === '(') return this.#list(depth)
    return Object.hasOwn(WORDS, next) ? WORDS[next] : this.#broken()
  }

  #broken(): null {
    this.#isBroken = true
    this.#at = this.text.length
    return null
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = []
    while (this.#goesOn(list.length)) list.push(this.value(depth - 1))
    return list
  }

  #object(depth: number): Record<string, unknown> {
    this.#at++
    const pairs: [string, unknown][] = []
    while (this.#goesOn(pairs.length)) {
      const key = String(this.value(1))
      if (this.text[this.#at] !== ':') this.#broken()
      this.#at++
      pairs.push([key, this.value(depth - 1)])
    }
    return Object.fromEntries(pairs)
  }

  /**
   * Returns true when another element follows the `count` elements already read. Skips the comma or the closing
   * bracket.
   */
  #goesOn(count: number): boolean {
    const next = this.text[this.#at]
    if (next === ')') {
      this.#at++
      return false
    }
    if (count > 0) {
      if (next !== ',') this.#broken()
      this.#at++
    }
    if (this.#at >= this.text.length) this.#broken()
    return !this.#isBroken
  }

  #quoted(): string {
    const start = this.#at + 1
    let end = start
    while (end < this.text.length && this.text[end] !== "'") end += this.text[end] === '!' ? 2 : 1
    if (end >= this.text.length) this.#broken()
    else this.#at = end + 1
    return this.text.slice(start, end).replace(/!(.)/gs, '$1')
  }

  #plain(): string | number {
    const start = this.#at
    while (this.#at < this.text.length && !"',:()!".includes(this.text[this.#at] ?? '')) this.#at++
    const text = this.text.slice(start, this.#at)
    if (text === '') this.#broken()
    return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text
  }
}
